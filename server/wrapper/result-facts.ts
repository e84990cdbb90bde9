import type { ResultFacts } from '../call-log/record.ts'
import { redact } from '../call-log/redact.ts'
import { isRecord, type ToolResult } from './mcp-shapes.ts'

const MAX_EXCERPT_LENGTH = 300

export function resultFacts(result: ToolResult, textLength: number): ResultFacts {
  const blocks = Array.isArray(result.content) ? result.content.length : 0
  const facts: ResultFacts = { bytes: textLength, blocks }
  if (saysNothing(result)) facts.empty = true
  return facts
}

/** No text for the model; structured content, if any, is not counted as saying something. */
export function saysNothing(result: ToolResult): boolean {
  if (!Array.isArray(result.content)) return true
  return result.content.every(
    (block) => isRecord(block) && block.type === 'text' && isBlank(block.text),
  )
}

/** Nothing at all: neither text nor data. */
export function isEmptyResult(result: ToolResult): boolean {
  const data = result.structuredContent
  return saysNothing(result) && !(isRecord(data) && Object.keys(data).length > 0)
}

/** What is left in a text of a value that was not there: a swallowed error, a forgotten await. */
const NO_VALUE = /^(?:\[\]|\{\}|""|null|undefined|NaN|None)$/
const MAX_NO_VALUE_LENGTH = 20

function isBlank(text: unknown): boolean {
  if (typeof text !== 'string') return false
  const trimmed = text.length > MAX_NO_VALUE_LENGTH ? text.trimStart() : text.trim()
  return trimmed === '' || (trimmed.length < MAX_NO_VALUE_LENGTH && NO_VALUE.test(trimmed))
}

/** The first words of a result: its texts, as they are, else its data, redacted. */
export function resultExcerpt(result: ToolResult): string {
  const blocks = Array.isArray(result.content) ? result.content : []
  const texts = blocks.flatMap((block) =>
    isRecord(block) && typeof block.text === 'string'
      ? [block.text.slice(0, MAX_EXCERPT_LENGTH)]
      : [],
  )
  const text = texts.join('\n').trim()
  return (text === '' ? dataExcerpt(result.structuredContent) : text).slice(0, MAX_EXCERPT_LENGTH)
}

function dataExcerpt(structured: unknown): string {
  const data = redact(structured)
  if (!isRecord(data)) return ''
  return Object.entries(data)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, 5)
    .map(([key, value]) => `${key}: ${String(value)}`)
    .join(', ')
}
