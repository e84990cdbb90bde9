import type { ZodRawShape } from 'zod'

/** A tool as its author wrote it, registered in the same words on either SDK. */
export type Tool = {
  input?: ZodRawShape
  output?: ZodRawShape
  readOnly?: true
  disabled?: true
  run(args: Record<string, unknown>, context: ToolContext): unknown
}

export type ToolContext = {
  signal: AbortSignal
  /** The JSON-RPC id of the request. */
  request: string | number
  /** Base address of an HTTP service on loopback that fails in scripted ways. */
  upstream(): Promise<string>
}

/** What the client sends. Without a word here: the fault's own tool with no arguments. */
export type FaultCall = {
  tool?: string
  args?: unknown
  /** The whole `params` of the request, for requests no client's SDK would build. */
  params?: unknown
  /** A tool that is called first. `answered`: its answer is awaited. */
  before?: { tool: string; answered: boolean }
  /** What the client does to the connection while the call runs. */
  leaves?: 'closes_stdin' | 'closes_stdout'
}

export type Fault = {
  /** Also the name of its tool. */
  id: string
  /** What goes wrong, in a few plain words. */
  what: string
  group: Group
  tool?: Tool
  call?: FaultCall
  /** What an error has to say to have named the cause. */
  cause: RegExp
  /** A success that says this is the right answer: the fault was healed, or did no harm. */
  healed?: RegExp
  /** A success that says this, in words that are not the tool's own, has warned the client. */
  warning?: RegExp
  /** Served by a low-level `Server` with one handler for all tools. */
  lowLevel?: true
  /** The fault may end its process, so it gets one of its own. */
  ownProcess?: true
}

export type Group =
  | 'results'
  | 'throws'
  | 'disguises'
  | 'arguments'
  | 'upstream'
  | 'hangs'
  | 'process'
  | 'stdout'
  | 'low-level'

export function text(words: string): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: words }] }
}

export const forever = (): Promise<never> => new Promise(() => undefined)

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))
