import type { ArgumentIssue, ErrorClass } from '../server/call-log/record.ts'
import type { Plant } from './planted.ts'
import type { Random } from './random.ts'
import type { Client, ToolName } from './world.ts'

/** What the script has decided about a call; the rest is left to the fates. */
export type Intention =
  /** `problem`: what the client is told, after the tool's name. */
  | { kind: 'invalid_arguments'; issues: ArgumentIssue[]; problem: string }
  | { kind: 'dropped'; keys: string[] }
  | { kind: 'tool_error'; message: string }
  | { kind: 'unexpected' }
  | { kind: 'rate_limited'; retryAfterS: number }
  | { kind: 'unknown_tool'; nearest: ToolName }
  | { kind: 'cancelled' }
  | { kind: 'deferred' }

export type Step = {
  /** A real tool, or a name that the model made up where the intention is `unknown_tool`. */
  tool: string
  args: Record<string, unknown>
  intention?: Intention
  plant?: Plant
  /** The first call of its kind in the session: what sessions, loops and bursts are counted by. */
  first?: true
  /** The right call after wrong arguments. */
  corrects?: true
  /** Median pause before the call; the player's own if absent. */
  pauseMs?: number
}

export type Answer = { failed: boolean; class?: ErrorClass | undefined }

/** What an agent does in one session: yields calls, and is told how each went. */
export type Script = Generator<Step, void, Answer>

export type Cast = { random: Random; client: Client; quotas: Quotas }

/** See createQuota: each is asked once for every occasion. */
export type Quotas = {
  wrongName(): boolean
  neverCorrected(): boolean
  stringNumber(): boolean
  hallucinated(): boolean
  loop(): boolean
  loopRecovers(): boolean
  rateLimit(): boolean
  unknownTool(): boolean
  missing(): boolean
  deferred(): boolean
  cancelled(): boolean
}

export function step(tool: ToolName, args: Record<string, unknown>, more?: Partial<Step>): Step {
  return { tool, args, ...more }
}
