import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { test } from 'node:test'
import { connection } from '../../server/wrapper/connection.ts'
import { startWrapped } from './wrapper-harness.ts'

type Client = { id: number; broken: boolean; closed: boolean }

function reset(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
}

/** Opens numbered clients; `opening` decides when, and whether, each one is ready. */
function opener(opening: (id: number) => Promise<void> = async () => undefined) {
  const clients: Client[] = []
  return {
    clients,
    async open(): Promise<Client> {
      const client = { id: clients.length + 1, broken: false, closed: false }
      clients.push(client)
      await opening(client.id)
      return client
    },
    close(client: Client): void {
      client.closed = true
    },
  }
}

async function ask(client: Client): Promise<number> {
  if (client.broken) throw reset()
  return client.id
}

function gate(): { wait: Promise<void>; open: () => void } {
  let open: () => void = () => undefined
  const wait = new Promise<void>((resolve) => {
    open = resolve
  })
  return { wait, open }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test('one client serves all uses until it fails', async () => {
  const { clients, open, close } = opener()
  const api = connection(open, { close })
  assert.deepEqual(await Promise.all([api.use(ask), api.use(ask), api.use(ask)]), [1, 1, 1])
  assert.equal(clients.length, 1)
})

test('fifty calls that fail together cause one new client', async () => {
  const ready = gate()
  const { clients, open, close } = opener(async (id) => (id === 2 ? ready.wait : undefined))
  const api = connection(open, { close })
  await api.use(ask)
  for (const client of clients) client.broken = true
  const failures = await Promise.allSettled(Array.from({ length: 50 }, () => api.use(ask)))
  assert.ok(failures.every((failure) => failure.status === 'rejected'))
  const again = Array.from({ length: 50 }, () => api.use(ask))
  await turn()
  ready.open()
  assert.deepEqual(await Promise.all(again), Array(50).fill(2))
  assert.equal(clients.length, 2)
  assert.equal(clients[0]?.closed, true)
})

test('a late error of an old client does not harm the new one', async () => {
  const { clients, open, close } = opener()
  const api = connection(open, { close })
  const late = gate()
  const slow = api.use(async () => {
    await late.wait
    throw reset()
  })
  const failed = api.use(async () => {
    throw reset()
  })
  await assert.rejects(failed, /ECONNRESET/)
  assert.equal(await api.use(ask), 2)
  assert.equal(clients[0]?.closed, false, 'still in use by the slow call')
  late.open()
  await assert.rejects(slow, /ECONNRESET/)
  assert.equal(await api.use(ask), 2)
  assert.equal(clients.length, 2)
  assert.equal(clients[0]?.closed, true)
  assert.equal(clients[1]?.closed, false)
})

test('C12: only a connection failure retires the client', async () => {
  const { clients, open, close } = opener()
  const api = connection(open, { close })
  const failures = [
    new Error('Internal Server Error'),
    Object.assign(new Error('statement timeout'), { code: '57014' }),
    { response: { status: 429 } },
    { response: { status: 503 } },
    new DOMException('This operation was aborted', 'AbortError'),
    new TypeError('x is undefined'),
  ]
  for (const failure of failures) {
    await assert.rejects(
      api.use(async () => {
        throw failure
      }),
    )
  }
  assert.equal(await api.use(ask), 1)
  assert.equal(clients.length, 1)
})

test('a client that cannot be opened fails those who wait, and the next use tries again', async () => {
  let refused = true
  const { clients, open } = opener(async () => {
    if (refused) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  })
  const api = connection(open)
  const failures = await Promise.allSettled([api.use(ask), api.use(ask)])
  assert.ok(failures.every(({ status }) => status === 'rejected'))
  assert.equal(clients.length, 1)
  refused = false
  assert.equal(await api.use(ask), 2)
})

test('an opening that never ends fails in time, and a client that comes later is closed', async () => {
  const late = gate()
  const { clients, open, close } = opener(async (id) => (id === 1 ? late.wait : undefined))
  const api = connection(open, { close, openTimeoutMs: 20 })
  await assert.rejects(api.use(ask), /not open after 20 ms/)
  assert.equal(await api.use(ask), 2)
  late.open()
  await turn()
  assert.equal(clients[0]?.closed, true)
  assert.equal(clients[1]?.closed, false)
})

test('what a client does later does not count as the doing of the call that opened it', async () => {
  const callContext = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const api = connection(async () => {
    setImmediate(() => seen.push(callContext.getStore()))
    return 'client'
  })
  await callContext.run('call 1', () => api.use(async () => seen.push(callContext.getStore())))
  await turn()
  assert.deepEqual(seen.sort(), ['call 1', undefined])
})

test('an open that throws at once is a failure like any other', async () => {
  const api = connection((): Client => {
    throw new Error('no driver')
  })
  await assert.rejects(api.use(ask), /no driver/)
})

test('an idle client is checked before it is used, a busy one is not', async () => {
  const { clients, open, close } = opener()
  let checks = 0
  const api = connection(open, {
    close,
    checkAfterIdleMs: 0,
    check: async (client) => {
      checks += 1
      return !client.broken
    },
  })
  assert.equal(await api.use(ask), 1)
  for (const client of clients) client.broken = true
  assert.equal(await api.use(ask), 2)
  assert.equal(clients[0]?.closed, true)
  assert.ok(checks >= 1)
})

test('close ends it, and a later use says so', async () => {
  const { clients, open, close } = opener()
  const api = connection(open, { close })
  await api.use(ask)
  await api.close()
  assert.equal(clients[0]?.closed, true)
  await assert.rejects(api.use(ask), /closed/)
})

test('a close that throws is no news', async () => {
  const { clients, open } = opener()
  const api = connection(open, {
    close: () => {
      throw new Error('already gone')
    },
  })
  await api.use(ask)
  for (const client of clients) client.broken = true
  await assert.rejects(api.use(ask), /ECONNRESET/)
  assert.equal(await api.use(ask), 2)
})

test('the attempt on a new client is marked in the record, later calls are not', async (t) => {
  const { clients, open, close } = opener()
  const api = connection(open, { close })
  const { call, calls } = await startWrapped(
    t,
    (server) => {
      server.registerTool('ask', { annotations: { readOnlyHint: true } }, async () => ({
        content: [{ type: 'text', text: `client ${await api.use(ask)}` }],
      }))
    },
    { retry: { baseMs: 0 } },
  )
  await call('ask')
  for (const client of clients) client.broken = true
  const rescued = await call('ask')
  assert.deepEqual(rescued.content, [{ type: 'text', text: 'client 2' }])
  await call('ask')
  const [first, second, third] = calls().map(({ attempts }) =>
    attempts.map(({ class: kind, code, reconnected }) => ({ kind, code, reconnected })),
  )
  const well = { kind: undefined, code: undefined, reconnected: undefined }
  assert.deepEqual(first, [well])
  assert.deepEqual(second, [
    { kind: 'connection', code: 'ECONNRESET', reconnected: undefined },
    { ...well, reconnected: true },
  ])
  assert.deepEqual(third, [well])
})

test('open must be a function', () => {
  assert.throws(() => connection(undefined as unknown as () => Client), /needs a function/)
})
