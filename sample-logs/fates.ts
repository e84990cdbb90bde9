import type { RecordedError } from '../server/call-log/record.ts'
import {
  type AttemptFailure,
  badResultFailure,
  htmlFailure,
  rateLimitedFailure,
  refusedFailure,
  resetFailure,
  timeoutFailure,
  toolErrorFailure,
  unavailableFailure,
  unexpectedFailure,
} from './failures.ts'
import { abandoned, type Fate, failed, refused, rescued, succeeded } from './fate.ts'
import { NOISE_SHARE, SUSPECT } from './planted.ts'
import { createQuota, createRandom, type Random } from './random.ts'
import type { Intention, Step } from './script.ts'
import type { Windows } from './windows.ts'
import { TOOLS, type Tool, type ToolName } from './world.ts'

/** How long the samples' clients wait for an answer. */
const CLIENT_TIMEOUT_MS = 60_000

export type Fates = { decide(step: Step, startedMs: number): Fate }

export function createFates({ seed, windows }: { seed: number; windows: Windows }): Fates {
  const random = createRandom(seed, 'fates')
  const quota = (name: string, share: number): (() => boolean) =>
    createQuota(share, createRandom(seed, `fate ${name}`))
  const isNoise = quota('noise', NOISE_SHARE)
  const isRescued = quota('rescued', 0.007)
  const isEmpty = quota('empty', 0.06)
  const isSuspect = quota('suspect', 0.03)
  const windowFails = quota('window', 0.95)
  const nextNoise = noiseInTurn(random)

  const inWindow = (name: ToolName, startedMs: number): Fate | undefined => {
    const tool = TOOLS[name]
    const window = windows.at(name, startedMs)
    if (!window?.hit) return undefined
    const nightly = name === 'get_exchange_rate'
    const fail = () => (nightly ? timeoutFailure(tool, random) : refusedFailure(tool, random))
    // The weekly window is hit without exception: it has few calls.
    if (nightly && !windowFails()) return rescued(tool, fail(), random)
    return { ...failed(tool, fail, random), plant: nightly ? 'nightly_window' : 'weekly_window' }
  }

  const unplanned = (name: ToolName, startedMs: number): Fate => {
    const tool = TOOLS[name]
    const window = inWindow(name, startedMs)
    if (window) return window
    if (isNoise()) return { ...nextNoise(name), plant: 'noise' }
    if (tool.repeatable && isRescued()) return rescued(tool, transientFailure(tool, random), random)
    const success = succeeded(tool, random)
    if (name !== SUSPECT.tool) return success
    if (isEmpty())
      return { ...success, plant: 'empty', result: { bytes: 0, blocks: 1, empty: true } }
    if (isSuspect()) {
      return {
        ...success,
        plant: 'suspect',
        result: { bytes: 38, blocks: 1, suspect: SUSPECT.rule },
      }
    }
    return success
  }

  return {
    decide(step, startedMs) {
      const { intention } = step
      if (!intention) return unplanned(step.tool as ToolName, startedMs)
      return { ...intended(step.tool as ToolName, intention, random), plant: step.plant }
    },
  }
}

function intended(name: ToolName, intention: Intention, random: Random): Fate {
  switch (intention.kind) {
    case 'invalid_arguments':
      return refused(random, intention.issues, {
        class: 'invalid_arguments',
        message: `Invalid arguments for "${name}": ${intention.problem}`,
      })
    case 'unknown_tool':
      return refused(random, undefined, {
        class: 'unknown_tool',
        message: `There is no tool "${name}" on this server. Did you mean "${intention.nearest}"?`,
      })
    case 'dropped':
      return { ...succeeded(TOOLS[name], random), dropped: intention.keys }
    case 'tool_error':
      return failed(TOOLS[name], () => toolErrorFailure(intention.message, random), random)
    case 'unexpected':
      return failed(TOOLS[name], () => unexpectedFailure(name, random), random)
    case 'rate_limited':
      return failed(
        TOOLS[name],
        () => rateLimitedFailure(TOOLS[name], intention.retryAfterS, random),
        random,
      )
    case 'cancelled':
      return abandoned(random.logNormal(6_000, 0.5), random, {
        class: 'cancelled',
        message: 'The client cancelled the call.',
        by: 'client',
      })
    case 'deferred':
      return { ...succeeded(TOOLS[name], random), outcome: 'deferred', result: undefined }
  }
}

function transientFailure(tool: Tool, random: Random): AttemptFailure {
  return random.chance(0.6) ? resetFailure(tool, random) : timeoutFailure(tool, random)
}

/** The kinds follow each other, so that a small sample has all of them; where they fall is chance. */
function noiseInTurn(random: Random): (name: ToolName) => Fate {
  const kinds: ((name: ToolName, tool: Tool) => Fate)[] = [
    (_, tool) => failed(tool, () => timeoutFailure(tool, random), random),
    (_, tool) => failed(tool, () => resetFailure(tool, random), random),
    (name, tool) => failed(tool, () => unexpectedFailure(name, random), random),
    (_, tool) => failed(tool, () => unavailableFailure(tool, random), random),
    (_, tool) => failed(tool, () => htmlFailure(tool, random), random),
    () => abandoned(CLIENT_TIMEOUT_MS, random, clientTimeout()),
    (_, tool) => failed(tool, () => refusedFailure(tool, random), random),
    (_, tool) => failed(tool, () => badResultFailure(random), random),
  ]
  let turn = 0
  return (name) => {
    const kind = kinds[turn % kinds.length]
    turn += 1
    if (!kind) throw new RangeError('There are no kinds of noise.')
    return kind(name, TOOLS[name])
  }
}

function clientTimeout(): RecordedError {
  return {
    class: 'timeout',
    message: 'The client gave up waiting after 60 s.',
    by: 'client',
  }
}
