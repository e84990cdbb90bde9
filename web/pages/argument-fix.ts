import type { SignatureRow } from '../queries/call-store.ts'
import { ROOT_PATH } from './json-text.ts'

/** What to change in the tool, in words and as text to paste into its schema or description. */
export type ArgumentFix = { words: string; snippet: string }

type Issue = Pick<
  SignatureRow,
  'code' | 'path' | 'subtype' | 'expected' | 'received' | 'suggest' | 'tool'
>

export function fixFor(issue: Issue): ArgumentFix {
  return (issue.subtype && fixOfSubtype(issue)) || fixOfCode(issue)
}

/** The last name in a path: `items[*].id` → `id`. */
function leaf(path: string): string {
  if (path === ROOT_PATH) return 'arguments'
  return path.slice(path.lastIndexOf('.') + 1).replace(/\[\*?\d*\]$/, '')
}

function fixOfSubtype(issue: Issue): ArgumentFix | undefined {
  const name = leaf(issue.path)
  switch (issue.subtype) {
    case 'stringified_number':
      return {
        words: 'Accept the number as text too: what it means is beyond doubt.',
        snippet: `${name}: z.coerce.number()`,
      }
    case 'stringified_boolean':
      return {
        words: 'Accept "true" and "false" as text too.',
        snippet: `${name}: z.union([z.boolean(), z.stringbool()])`,
      }
    case 'stringified_json':
      return {
        words: 'Accept the value as JSON text too, or say in the description that it is no text.',
        snippet: `${name}: z.preprocess((value) => (typeof value === 'string' ? JSON.parse(value) : value), ${name}Schema)`,
      }
    case 'null_for_optional':
      return {
        words: 'Take null for "left out".',
        snippet: `${name}: schema.nullish().transform((value) => value ?? undefined)`,
      }
    case 'wrapped_args':
      return {
        words:
          'Say in the tool’s description that parameters stand at the top level, with a call as an example.',
        snippet: `Give the parameters at the top level, not inside "${name}".`,
      }
    case 'case_mismatch':
      return {
        words: 'Write the name in the description exactly as it must be sent, or accept both.',
        snippet: `The parameter is "${issue.suggest ?? name}", in exactly this spelling.`,
      }
    default:
      return undefined
  }
}

function fixOfCode(issue: Issue): ArgumentFix {
  const name = leaf(issue.path)
  const expected = issue.expected ?? 'what the schema asks for'
  switch (issue.code) {
    case 'unknown_key':
      return issue.suggest
        ? {
            words: `Rename the parameter to what callers expect, accept both names, or say the right one in the description of \`${issue.tool}\`.`,
            snippet: `The parameter is called "${issue.suggest}", not "${name}".`,
          }
        : {
            words: `Callers believe in a parameter that \`${issue.tool}\` does not have: add it, or say that there is none.`,
            snippet: `There is no parameter "${name}".`,
          }
    case 'missing_required':
      return {
        words: 'Give it a default, or say in the description that it must always be sent.',
        snippet: `Always send "${name}" (${expected}).`,
      }
    case 'not_in_enum':
      return {
        words: 'List the allowed values in the parameter’s description.',
        snippet: `"${name}" is ${expected}.`,
      }
    case 'bad_format':
      return {
        words: 'Show the format with an example in the parameter’s description.',
        snippet: `"${name}" is written as ${expected}.`,
      }
    default:
      return {
        words: 'Say in the parameter’s description what it must be, with an example.',
        snippet: `"${name}" must be ${expected}.`,
      }
  }
}
