import { isRecord } from './mcp-shapes.ts'

/** Where a tool's result is broken, in the words the client and the log are told. */
export type BrokenSpot = { at: string; problem: string }

const BLOCK_TYPES = ['text', 'image', 'audio', 'resource', 'resource_link'] as const

/**
 * Checks a handler's return value against what MCP lets a tool answer, without a schema library:
 * it runs on every call. Undefined means sound. Cost: one look at each content block.
 */
export function findBrokenSpot(value: unknown): BrokenSpot | undefined {
  if (!isRecord(value)) {
    return {
      at: 'result',
      problem: `returned ${nounFor(value)}, expected an object with \`content\``,
    }
  }
  if (isUnfinished(value)) return undefined
  if (value.isError !== undefined && typeof value.isError !== 'boolean') {
    return {
      at: 'isError',
      problem: `isError is ${nounFor(value.isError)}, expected true or false`,
    }
  }
  if (value.structuredContent !== undefined && !isRecord(value.structuredContent)) {
    const found = nounFor(value.structuredContent)
    return { at: 'structuredContent', problem: `structuredContent is ${found}, expected an object` }
  }
  if (value.content === undefined) return contentMissing(value)
  if (!Array.isArray(value.content)) {
    return { at: 'content', problem: `content is ${nounFor(value.content)}, expected an array` }
  }
  for (const [index, block] of value.content.entries()) {
    const spot = brokenBlock(block, `content[${index}]`)
    if (spot) return spot
  }
  return undefined
}

/** A task, or a result of revision 2026-07-28 that asks for input: not the end of the call. */
export function isUnfinished(result: Record<string, unknown>): boolean {
  if (isRecord(result.task)) return true
  return typeof result.resultType === 'string' && result.resultType !== 'complete'
}

/** The SDK would fill in an empty list, and data without `content` would reach nobody. */
function contentMissing(value: Record<string, unknown>): BrokenSpot | undefined {
  if (value.isError === true || value.structuredContent !== undefined) return undefined
  const keys = Object.keys(value).slice(0, 5)
  const found = keys.length === 0 ? 'an empty object' : `an object with ${keys.join(', ')}`
  return { at: 'content', problem: `the result has no \`content\`: returned ${found}` }
}

function brokenBlock(block: unknown, at: string): BrokenSpot | undefined {
  if (!isRecord(block)) return { at, problem: `${at} is ${nounFor(block)}, expected an object` }
  switch (block.type) {
    case 'text':
      return expectString(block, 'text', at)
    case 'image':
    case 'audio':
      return expectString(block, 'data', at) ?? expectString(block, 'mimeType', at)
    case 'resource':
      return brokenResource(block.resource, `${at}.resource`)
    case 'resource_link':
      return expectString(block, 'uri', at) ?? expectString(block, 'name', at)
    default:
      return unknownType(block.type, `${at}.type`)
  }
}

function brokenResource(resource: unknown, at: string): BrokenSpot | undefined {
  if (!isRecord(resource)) {
    return { at, problem: `${at} is ${nounFor(resource)}, expected an object` }
  }
  const spot = expectString(resource, 'uri', at)
  if (spot) return spot
  if (typeof resource.text === 'string' || typeof resource.blob === 'string') return undefined
  return { at, problem: `${at} has neither text nor blob` }
}

function expectString(
  holder: Record<string, unknown>,
  key: string,
  at: string,
): BrokenSpot | undefined {
  if (typeof holder[key] === 'string') return undefined
  const path = `${at}.${key}`
  return { at: path, problem: `${path} is ${nounFor(holder[key])}, expected a string` }
}

function unknownType(type: unknown, at: string): BrokenSpot {
  const found = typeof type === 'string' ? `"${type.slice(0, 40)}"` : nounFor(type)
  return { at, problem: `${at} is ${found}, expected one of ${BLOCK_TYPES.join(', ')}` }
}

/** `undefined`, `null`, `an array`, `a string` … */
export function nounFor(value: unknown): string {
  if (value === undefined || value === null) return String(value)
  if (Array.isArray(value)) return 'an array'
  const type = typeof value
  return type === 'object' ? 'an object' : `a ${type}`
}
