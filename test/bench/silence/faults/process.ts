import { EventEmitter } from 'node:events'
import { type Fault, type FaultCall, forever, sleep, type Tool, text } from '../fault.ts'

const ends = (id: string, what: string, run: Tool['run'], call: FaultCall = {}): Fault => ({
  id,
  what,
  group: 'process',
  cause: /crash|process|connection/i,
  call,
  healed: /^done$/,
  ownProcess: true,
  tool: { run },
})

const soon = (act: () => void) => (): Promise<never> => {
  setTimeout(act, 20)
  return forever()
}

function fillMemory(): never {
  const kept: unknown[] = []
  for (;;) kept.push(new Array(4_000_000).fill(kept.length))
}

/** Calls whose process ends under them. */
export const processFaults: Fault[] = [
  ends(
    'timer_throws',
    'throws in a timer',
    soon(() => {
      throw new Error('out of a timer')
    }),
  ),
  ends('floating_rejection', 'a promise nobody awaits rejects', async () => {
    void Promise.reject(new Error('nobody waits for me'))
    await sleep(200)
    return text('done')
  }),
  ends('floating_object', 'it rejects with an object', async () => {
    void Promise.reject({ reason: 'quota' })
    await sleep(200)
    return text('done')
  }),
  ends(
    'emitter_error',
    'an error event without a listener',
    soon(() => {
      new EventEmitter().emit('error', new Error('socket closed'))
    }),
  ),
  ends('exit_1', 'a library calls process.exit(1)', () => process.exit(1)),
  ends('exit_0', 'a library calls process.exit(0)', () => process.exit(0)),
  ends('killed', 'SIGKILL, as the OOM killer sends it', async () => {
    await sleep(200)
    process.kill(process.pid, 'SIGKILL')
    return forever()
  }),
  ends('terminated', 'SIGTERM, as a supervisor sends it', async () => {
    await sleep(20)
    process.kill(process.pid, 'SIGTERM')
    return forever()
  }),
  ends('abort', 'a native assertion: SIGABRT', async () => {
    await sleep(200)
    process.abort()
  }),
  ends('out_of_memory', 'the heap is full', async () => {
    await sleep(200)
    fillMemory()
  }),
  ends(
    'bystander',
    'another call ends the process',
    async () => {
      await sleep(500)
      return text('done')
    },
    { before: { tool: 'timer_throws', answered: false } },
  ),
  ends(
    'after_a_crash_to_be',
    'an answered call crashes later',
    async () => {
      await sleep(500)
      return text('done')
    },
    { before: { tool: 'answers_then_crashes', answered: true } },
  ),
  ends('stdin_ends', 'the client closes stdin', forever, { leaves: 'closes_stdin' }),
  ends(
    'stdout_closed',
    'the client closes stdout',
    async () => {
      await sleep(300)
      return text('done')
    },
    { leaves: 'closes_stdout' },
  ),
]

/** Called before another; not a fault of its own. */
export const helperTools: Record<string, Tool> = {
  answers_then_crashes: {
    run: () => {
      setTimeout(() => Promise.reject(new Error('long after the answer')), 60)
      return text('ok')
    },
  },
}
