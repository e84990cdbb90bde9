import { EventEmitter, once } from 'node:events'
import { type Fault, forever, sleep, type Tool, text } from '../fault.ts'

const hangs = (id: string, what: string, run: Tool['run']): Fault => ({
  id,
  what,
  group: 'hangs',
  cause: /did not finish|time/i,
  tool: { run },
})

/** Keeps the event loop from doing anything else. */
function blockLoop(ms: number): void {
  const end = Date.now() + ms
  while (Date.now() < end) Math.sqrt(end)
}

/** Calls that have no answer within the client's patience of one second. */
export const hangFaults: Fault[] = [
  hangs('never_settles', 'a promise that never settles', forever),
  hangs('lost_event', 'waits for an event that never comes', async () => {
    await once(new EventEmitter(), 'ready')
    return text('ready')
  }),
  hangs('deadlock', 'two tasks that wait for each other', async () => {
    const tasks: { first?: Promise<void>; second?: Promise<void> } = {}
    const waitFor = async (name: 'first' | 'second') => {
      await sleep(1)
      await tasks[name]
    }
    tasks.first = waitFor('second')
    tasks.second = waitFor('first')
    await tasks.first
    return text('both')
  }),
  hangs('upstream_hangs', 'an upstream that never answers', async (_args, { upstream }) => {
    return text(await (await fetch(`${await upstream()}/hang`)).text())
  }),
  hangs('retries_for_ever', 'a loop of retries without an end', async (_args, { signal }) => {
    while (!signal.aborted) await sleep(50)
    return forever()
  }),
  hangs('slow_success', 'succeeds after the client left', async () => {
    await sleep(1_400)
    return text('charged the card')
  }),
  hangs('slow_failure', 'fails after the client left', async () => {
    await sleep(1_400)
    throw new Error('too late to fail')
  }),
  {
    ...hangs('blocks_loop', 'blocks the event loop, then succeeds', () => {
      blockLoop(1_400)
      return text('charged the card')
    }),
    ownProcess: true,
  },
  {
    ...hangs('endless_loop', 'an endless loop; the host kills it', () => {
      for (;;) blockLoop(1_000)
    }),
    ownProcess: true,
  },
]
