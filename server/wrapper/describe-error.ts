import type { ErrorCause } from '../call-log/record.ts'
import { attempt, isInstance, isObject, readProperty, readString } from '../safe-read.ts'
import { errorsWithin } from './error-chain.ts'

export type ErrorDescription = {
  name: string
  /** Never empty. */
  message: string
  stack?: string
  /** What stood behind it, outermost first; of a long chain the first ones and the innermost. */
  causes?: ErrorCause[]
}

const MAX_MESSAGE_LENGTH = 4_000
const MAX_CAUSE_LENGTH = 1_000
const MAX_STACK_LENGTH = 8_000
const MAX_NAME_LENGTH = 100
const MAX_CAUSES = 8

/** Says in words what was thrown, whatever it was. Never throws; redacts nothing. */
export function describeError(error: unknown): ErrorDescription {
  const [, ...behind] = errorsWithin(error)
  const message = messageOf(error)
  const stack = stackOf(error)
  const causes = causesOf(message, behind)
  return {
    name: nameOf(error),
    message,
    ...(stack !== undefined && { stack }),
    ...(causes.length > 0 && { causes }),
  }
}

/** One line: the message and the causes that add to it, without saying anything twice. */
export function errorLine({ message, causes = [] }: ErrorDescription, maxLength = 500): string {
  let line = oneLine(message)
  for (const cause of causes) {
    const text = oneLine(cause.message)
    if (!line.includes(text)) line += `: ${text}`
  }
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`
}

function causesOf(message: string, behind: unknown[]): ErrorCause[] {
  const kept =
    behind.length <= MAX_CAUSES
      ? behind
      : [...behind.slice(0, MAX_CAUSES - 1), behind[behind.length - 1]]
  const causes: ErrorCause[] = []
  let said = message
  for (const cause of kept) {
    const text = cut(messageOf(cause), MAX_CAUSE_LENGTH)
    const code = readString(cause, 'code')
    // A wrapper often repeats its cause's message; the entry then adds something only by its code.
    if (said.includes(text) && code === undefined) continue
    said += `\n${text}`
    causes.push({
      name: nameOf(cause),
      ...(code !== undefined && { code: cut(code, MAX_NAME_LENGTH) }),
      message: text,
    })
  }
  return causes
}

function messageOf(error: unknown): string {
  if (isInstance(error, Error) || readString(error, 'message') !== undefined) {
    const own = readProperty(error, 'message')
    const text = typeof own === 'string' ? own.trim() : isObject(own) ? dataText(own) : ''
    if (text === '') return `${nameOf(error)} (no message)`
    const code = isInstance(error, Error) ? undefined : codeText(error)
    return cut(
      code === undefined || text.includes(code) ? text : `${code}: ${text}`,
      MAX_MESSAGE_LENGTH,
    )
  }
  return cut(`${thrownText(error)}`, MAX_MESSAGE_LENGTH)
}

/** For a value that is no Error and has no message. */
function thrownText(value: unknown): string {
  if (typeof value === 'string') return value.trim() === '' ? '(an empty string was thrown)' : value
  if (!isObject(value)) return `${primitiveText(value)} was thrown`
  if (typeof value === 'function') return `${nameOf(value)} was thrown`
  const code = codeText(value)
  const data = dataText(value)
  return code === undefined || data.includes(code) ? data : `${code}: ${data}`
}

function primitiveText(value: unknown): string {
  return attempt(() => String(value)) ?? typeof value
}

function codeText(value: unknown): string | undefined {
  const code = readProperty(value, 'code')
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined
}

function dataText(value: object): string {
  const json = attempt(() => JSON.stringify(value))
  return json === undefined || json === '{}' ? `${nameOf(value)} (no message)` : json
}

function nameOf(value: unknown): string {
  if (!isObject(value)) return value === null ? 'null' : typeof value
  const name =
    readString(value, 'name') || readString(readProperty(value, 'constructor'), 'name') || 'object'
  return cut(oneLine(name), MAX_NAME_LENGTH)
}

function stackOf(error: unknown): string | undefined {
  const stack = readString(error, 'stack')
  return stack === undefined || stack === '' ? undefined : cut(stack, MAX_STACK_LENGTH)
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`
}
