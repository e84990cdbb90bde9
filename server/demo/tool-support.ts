import { ToolError } from '../index.ts'
import { type UpstreamClient, UpstreamHttpError } from './upstream-client.ts'

/** What the tools of a service are given. */
export type DemoTools = {
  /** Runs `work` with the current client of the upstream. */
  ask<T>(work: (client: UpstreamClient) => Promise<T>): Promise<T>
}

/** "Not found" is for the model to act on, so it travels as a ToolError; the rest is classified. */
export function explainNotFound(error: unknown): never {
  if (error instanceof UpstreamHttpError && error.status === 404) throw new ToolError(error.message)
  throw error
}

export function asText(answer: unknown): { content: { type: 'text'; text: string }[] } {
  return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
}
