import type { Attempt, RecordedError } from '../server/call-log/record.ts'
import type { Random } from './random.ts'
import type { Tool } from './world.ts'

/** Longest that the samples' HTTP client waits for an upstream. */
const UPSTREAM_TIMEOUT_MS = 3_000

export type AttemptFailure = {
  error: RecordedError
  /** Time inside the handler until the attempt failed. */
  ms: number
  /** Whether the wrapper would try again. */
  transient: boolean
}

export function timeoutFailure(tool: Tool, random: Random): AttemptFailure {
  const code = 'UND_ERR_HEADERS_TIMEOUT'
  return {
    transient: true,
    ms: UPSTREAM_TIMEOUT_MS + random.logNormal(4, 0.6),
    error: {
      class: 'timeout',
      code,
      name: 'TypeError',
      message: 'fetch failed',
      causes: [{ name: 'HeadersTimeoutError', code, message: 'Headers Timeout Error' }],
      upstream: tool.upstream,
    },
  }
}

export function refusedFailure(tool: Tool, random: Random): AttemptFailure {
  return connectionFailure('ECONNREFUSED', `connect ECONNREFUSED ${tool.upstream}`, tool, random)
}

export function resetFailure(tool: Tool, random: Random): AttemptFailure {
  return connectionFailure('ECONNRESET', 'read ECONNRESET', tool, random)
}

function connectionFailure(
  code: string,
  message: string,
  tool: Tool,
  random: Random,
): AttemptFailure {
  return {
    transient: true,
    ms: random.logNormal(6, 0.8),
    error: {
      class: 'connection',
      code,
      name: 'TypeError',
      message: 'fetch failed',
      causes: [{ name: 'Error', code, message }],
      upstream: tool.upstream,
    },
  }
}

/** 502 and 503 mean that nobody was there to answer: class connection. */
export function unavailableFailure(tool: Tool, random: Random): AttemptFailure {
  return {
    transient: true,
    ms: random.logNormal(30, 0.7),
    error: {
      class: 'connection',
      name: 'UpstreamHttpError',
      message: `${tool.upstream} answered 503 Service Unavailable`,
      upstream: tool.upstream,
      status: 503,
    },
  }
}

export function htmlFailure(tool: Tool, random: Random): AttemptFailure {
  return {
    transient: false,
    ms: random.logNormal(45, 0.6),
    error: {
      class: 'upstream',
      name: 'SyntaxError',
      message: `Unexpected token '<', "<!DOCTYPE "... is not valid JSON`,
      upstream: tool.upstream,
      status: 200,
    },
  }
}

export function unexpectedFailure(toolName: string, random: Random): AttemptFailure {
  return {
    transient: false,
    ms: random.logNormal(9, 0.7),
    error: {
      class: 'unexpected',
      name: 'TypeError',
      message: "Cannot read properties of undefined (reading 'total')",
      stack: stackOf(toolName),
    },
  }
}

export function badResultFailure(random: Random): AttemptFailure {
  return {
    transient: false,
    ms: random.logNormal(80, 0.5),
    error: {
      class: 'bad_result',
      message: 'content[0].text: expected string, received undefined',
    },
  }
}

export function rateLimitedFailure(
  tool: Tool,
  retryAfterS: number,
  random: Random,
): AttemptFailure {
  return {
    transient: true,
    ms: random.logNormal(22, 0.4),
    error: {
      class: 'rate_limited',
      name: 'UpstreamHttpError',
      message: 'API rate limit exceeded',
      upstream: tool.upstream,
      status: 429,
      retry_after_s: retryAfterS,
    },
  }
}

export function toolErrorFailure(message: string, random: Random): AttemptFailure {
  return {
    transient: false,
    ms: random.logNormal(35, 0.4),
    error: { class: 'tool_error', name: 'ToolError', message },
  }
}

export function failedAttempt({ error, ms }: AttemptFailure): Attempt {
  return { ms: milliseconds(ms), class: error.class, code: error.code }
}

/** Microseconds are the finest that durations in the log are worth. */
export function milliseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}

/** Paths of a machine that does not exist. */
export function stackOf(toolName: string): string {
  return [
    "TypeError: Cannot read properties of undefined (reading 'total')",
    `    at ${toolName} (/srv/app/tools/${toolName}.ts:48:31)`,
    '    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)',
  ].join('\n')
}
