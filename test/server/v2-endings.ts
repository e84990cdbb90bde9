import assert from 'node:assert/strict'
import { readRecords } from './demo-log.ts'
import type { V2Link } from './v2-harness.ts'
import { until } from './wrapper-harness.ts'

/** A client that gives up: one record, and the handler's later end noted apart. */
export async function checkTimeout({ client, logs, newRecords }: V2Link): Promise<void> {
  await assert.rejects(client.callTool({ name: 'hangs' }, { timeout: 600 }), /timed out/i)
  const [record, ...others] = await newRecords(1)
  assert.equal(others.length, 0)
  assert.equal(record?.outcome, 'failed')
  assert.equal(record?.error?.class, 'timeout')
  assert.equal(record?.error?.by, 'client')
  // Less where a busy server reads the call late.
  assert.ok((record?.duration_ms ?? 0) >= 200)
  const late = await until(
    () => readRecords(logs).find(({ kind }) => kind === 'late'),
    'the late end',
  )
  assert.equal(late.kind === 'late' && late.call, record?.call)
}

export async function checkCancellation({ client, newRecords }: V2Link): Promise<void> {
  const controller = new AbortController()
  const hanging = client.callTool({ name: 'hangs' }, { signal: controller.signal })
  setTimeout(() => controller.abort('user pressed esc'), 50)
  await assert.rejects(hanging)
  const [record, ...others] = await newRecords(1)
  assert.equal(others.length, 0)
  assert.equal(record?.error?.class, 'cancelled')
  assert.match(record?.error?.message ?? '', /user pressed esc/)
}

/** -32042 sends the client to a URL: it must arrive with its data, as the error that it is. */
export async function checkUrlElicitation({ client, newRecords }: V2Link): Promise<void> {
  await assert.rejects(client.callTool({ name: 'asks_url' }), (error) => {
    const { code, data } = error as { code: number; data: { elicitations: { url: string }[] } }
    assert.equal(code, -32042)
    assert.equal(data.elicitations[0]?.url, 'https://login.example/')
    return true
  })
  const [record, ...others] = await newRecords(1)
  assert.equal(others.length, 0)
  assert.equal(record?.outcome, 'deferred')
}

/** In 2025 the SDK asks within the call; from 2026 on each round is a call of its own. */
export async function checkQuestionWithinCall({ call }: V2Link): Promise<void> {
  const { result, records } = await call('asks')
  assert.deepEqual(result.content, [{ type: 'text', text: 'confirmed' }])
  assert.deepEqual(
    records.map(({ outcome }) => outcome),
    ['succeeded'],
  )
}

export async function checkThrowAfterQuestion({ call }: V2Link): Promise<void> {
  const { result, records } = await call('asks_then_throws')
  assert.equal(result.isError, true)
  assert.deepEqual(
    records.map(({ error }) => error?.class),
    ['connection'],
  )
  assert.match(JSON.stringify(result), /could not be reached \(ECONNREFUSED\)/)
}

export async function checkQuestionInRounds({ client, call, newRecords }: V2Link): Promise<void> {
  const asked = await client.callTool({ name: 'asks' }, { allowInputRequired: true })
  const { resultType, inputRequests } = asked as {
    resultType?: string
    inputRequests?: Record<string, { method: string; params: Record<string, unknown> }>
  }
  assert.equal(resultType, 'input_required')
  assert.equal(inputRequests?.ask?.method, 'elicitation/create')
  assert.equal(inputRequests?.ask?.params.message, 'Sure?')
  assert.deepEqual(
    (await newRecords(1)).map(({ outcome }) => outcome),
    ['deferred'],
  )
  const { result, records } = await call('asks_then_throws')
  assert.equal(result.isError, true)
  assert.match(JSON.stringify(result), /could not be reached \(ECONNREFUSED\)/)
  const both = records.length === 2 ? records : [...records, ...(await newRecords(1))]
  assert.deepEqual(
    both.map(({ outcome, error }) => [outcome, error?.class]),
    [
      ['deferred', undefined],
      ['failed', 'connection'],
    ],
  )
}
