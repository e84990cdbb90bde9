import type { SignatureRow } from '../queries/call-store.ts'

/** What to change, in a sentence, and a text to paste into the tool's schema or description. */
export type ArgumentFix = { action: string; paste: string }

export type ArgumentFault = Pick<
  SignatureRow,
  'tool' | 'code' | 'path' | 'subtype' | 'expected' | 'received' | 'suggest'
>

/** `items[*].id` → `id`; `(root)` → undefined. */
export function parameterOf(path: string): string | undefined {
  if (path === '(root)' || path === '') return undefined
  const name = path.slice(path.lastIndexOf('.') + 1).replace(/(\[\*\])+$/, '')
  return name === '' ? undefined : name
}

/** For Zod: `z.object({ ${key}: … })` needs quotes around names that are no identifiers. */
function keyText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
}

export function argumentFix(fault: ArgumentFault): ArgumentFix {
  const name = parameterOf(fault.path) ?? 'arguments'
  return bySubtype(fault, name) ?? byCode(fault, name)
}

function bySubtype(fault: ArgumentFault, name: string): ArgumentFix | undefined {
  const key = keyText(name)
  switch (fault.subtype) {
    case 'stringified_number':
      return {
        action: `Accept the number as text too, or say in the description of \`${name}\` that it is a number without quotes.`,
        paste: `${key}: z.coerce.number()`,
      }
    case 'stringified_boolean':
      return {
        action: `Accept "true" and "false" as text too, or say in the description of \`${name}\` that it is true or false without quotes.`,
        paste: `${key}: z.union([z.boolean(), z.stringbool()])`,
      }
    case 'stringified_json':
      return {
        action: `Say in the description of \`${name}\` that it is a JSON value and no text, with an example.`,
        paste: `${key}: a JSON ${fault.expected ?? 'value'}, not a string that holds JSON. Example: {"${name}": ${fault.expected === 'array' ? '["a", "b"]' : '{"key": "value"}'}}`,
      }
    case 'null_for_optional':
      return {
        action: `Take null in \`${name}\` as left out.`,
        paste: `${key}: <schema>.nullish().transform((value) => value ?? undefined)`,
      }
    case 'wrapped_args':
      return {
        action: `Say in the description of \`${fault.tool}\` that parameters stand at the top level, with a call as an example.`,
        paste: `Pass the parameters at the top level, not inside ${JSON.stringify(name)}.`,
      }
    case 'case_mismatch':
      return {
        action: `Write the name in the description exactly as it must be sent, or accept both spellings.`,
        paste: `The parameter is ${JSON.stringify(fault.suggest ?? name)}, in exactly this spelling.`,
      }
    default:
      return undefined
  }
}

function byCode(fault: ArgumentFault, name: string): ArgumentFix {
  const { tool, expected } = fault
  const wanted = expected ?? 'what the schema asks for'
  switch (fault.code) {
    case 'unknown_key':
      return wrongNameFix(tool, name, fault.suggest)
    case 'missing_required':
      return {
        action: `Give \`${name}\` a default, or say in the description of \`${tool}\` that it must always be sent.`,
        paste: `${name} (required): ${wanted}. Always send it.`,
      }
    case 'not_in_enum':
      return {
        action: `List the allowed values in the description of \`${name}\`.`,
        paste: `${name}: ${wanted}. No other value is accepted.`,
      }
    case 'bad_format':
      return {
        action: `Show the format of \`${name}\` with an example in its description.`,
        paste: `${name}: written as ${wanted}.`,
      }
    case 'out_of_range':
    case 'too_long':
    case 'too_short':
      return {
        action: `State the limits of \`${name}\` in its description.`,
        paste: `${name}: ${wanted}.`,
      }
    case 'malformed_json':
      return {
        action: `Show a whole call of \`${tool}\` in its description.`,
        paste: `Arguments are one JSON object, for example {"…": "…"}.`,
      }
    default:
      return {
        action: `Say in the description of \`${name}\` what it must be, with an example.`,
        paste: `${name}: must be ${wanted}.`,
      }
  }
}

/** Callers write `wrong`; the tool knows `right`, or (undefined) nothing of the kind. */
export function wrongNameFix(tool: string, wrong: string, right: string | undefined): ArgumentFix {
  if (right === undefined) {
    return {
      action: `Callers believe that \`${tool}\` has \`${wrong}\`: add it, or say in the description that there is none.`,
      paste: `There is no parameter ${JSON.stringify(wrong)}.`,
    }
  }
  return {
    action: `Rename \`${right}\` to what callers expect, accept \`${wrong}\` as an alias, or say the name in the description of \`${tool}\`.`,
    paste: `The parameter is called ${JSON.stringify(right)}, not ${JSON.stringify(wrong)}.`,
  }
}
