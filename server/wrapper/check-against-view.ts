import type { ArgumentProblem } from './argument-problem.ts'
import { isRecord } from './mcp-shapes.ts'
import {
  describeValues,
  describeView,
  jsonTypeOf,
  type SchemaView,
  typeFits,
} from './schema-view.ts'

/** Enough to find every kind of mistake; a list of thousands would only be cut later. */
const MAX_PROBLEMS = 200

/**
 * Checks arguments against a compiled JSON Schema, for servers without an SDK in front of their
 * handlers. Lenient by design: it knows types, required and forbidden keys, lists of values, bounds
 * and alternatives, and lets everything else pass, since a refusal keeps the tool from running.
 */
export function checkAgainstView(view: SchemaView, value: unknown): ArgumentProblem[] {
  const problems: ArgumentProblem[] = []
  check(view, value, [], problems)
  return problems
}

function check(
  view: SchemaView,
  value: unknown,
  path: PropertyKey[],
  problems: ArgumentProblem[],
): void {
  if (problems.length >= MAX_PROBLEMS) return
  if (view.anyOf && !alternativeFits(view, value, path, problems)) return
  if (!view.anyOf && !typeFits(view, value)) {
    problems.push({ path, code: 'wrong_type', expected: describeView(view) })
    return
  }
  if (view.values && !view.values.some((allowed) => sameJson(allowed, value))) {
    problems.push({
      path,
      code: 'not_in_enum',
      values: view.values,
      expected: describeValues(view.values),
    })
    return
  }
  if (typeof value === 'number') checkNumber(view, value, path, problems)
  else if (typeof value === 'string') checkString(view, value, path, problems)
  else if (Array.isArray(value)) checkArray(view, value, path, problems)
  else if (isRecord(value)) checkObject(view, value, path, problems)
}

function alternativeFits(
  view: SchemaView,
  value: unknown,
  path: PropertyKey[],
  problems: ArgumentProblem[],
): boolean {
  const branches = (view.anyOf ?? []).map((option) => {
    const found: ArgumentProblem[] = []
    check(option, value, path, found)
    return found
  })
  if (branches.some((found) => found.length === 0)) return true
  const inside = branches.filter((found) => found.every((each) => each.path.length > path.length))
  const best = inside.sort((a, b) => a.length - b.length)[0]
  problems.push(...(best ?? [{ path, code: 'wrong_type' as const, expected: describeView(view) }]))
  return false
}

function checkNumber(view: SchemaView, value: number, path: PropertyKey[], out: ArgumentProblem[]) {
  const { minimum, maximum, multipleOf } = view
  const low = minimum && (minimum.exclusive ? value <= minimum.value : value < minimum.value)
  const high = maximum && (maximum.exclusive ? value >= maximum.value : value > maximum.value)
  if (low || high) out.push({ path, code: 'out_of_range', expected: describeView(view) })
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    out.push({ path, code: 'out_of_range', expected: describeView(view) })
  }
}

/** 0.3 is a multiple of 0.1, though not in binary. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step
  return Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient))
}

function checkString(view: SchemaView, value: string, path: PropertyKey[], out: ArgumentProblem[]) {
  checkLength(view, [...value].length, path, out)
  if (view.pattern && !view.pattern.test(value)) {
    out.push({ path, code: 'bad_format', expected: describeView(view) })
  }
}

function checkArray(
  view: SchemaView,
  value: unknown[],
  path: PropertyKey[],
  out: ArgumentProblem[],
) {
  checkLength(view, value.length, path, out)
  if (!view.items) return
  for (const [index, item] of value.entries()) check(view.items, item, [...path, index], out)
}

function checkLength(
  view: SchemaView,
  length: number,
  path: PropertyKey[],
  out: ArgumentProblem[],
) {
  const { minLength, maxLength } = view
  if (minLength !== undefined && length < minLength) {
    out.push({ path, code: 'too_short', expected: describeView(view) })
  }
  if (maxLength !== undefined && length > maxLength) {
    out.push({ path, code: 'too_long', expected: describeView(view) })
  }
}

function checkObject(
  view: SchemaView,
  value: Record<string, unknown>,
  path: PropertyKey[],
  out: ArgumentProblem[],
) {
  if (!view.properties) return
  for (const [name, property] of view.properties) {
    const given = Object.hasOwn(value, name) ? value[name] : undefined
    if (given !== undefined) check(property.view, given, [...path, name], out)
    else if (property.required) out.push({ path: [...path, name], code: 'missing_required' })
  }
  if (view.unknownKeys !== 'refuse') return
  for (const key of Object.keys(value)) {
    if (!view.properties.has(key)) out.push({ path: [...path, key], code: 'unknown_key' })
  }
}

/** Equal as JSON; enums hold small values. */
function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  const type = jsonTypeOf(a)
  if ((type !== 'object' && type !== 'array') || type !== jsonTypeOf(b)) return false
  return JSON.stringify(a) === JSON.stringify(b)
}
