import { z } from 'zod'
import { type Fault, type FaultCall, type Tool, text } from '../fault.ts'

const bad = (
  id: string,
  what: string,
  cause: RegExp,
  input: Tool['input'],
  call: FaultCall,
): Fault => ({
  id,
  what,
  group: 'arguments',
  cause,
  call,
  tool: { ...(input ? { input } : {}), run: async () => text('done') },
})

/** The argument is dropped in silence; the tool does something else and reports success. */
const dropped = (
  id: string,
  what: string,
  input: Tool['input'],
  args: object,
  key: string,
): Fault => ({
  ...bad(id, what, new RegExp(key), input, { args }),
  warning: new RegExp(key),
})

const file = { title: z.string(), parentFolderId: z.string().optional() }
const page = { limit: z.number().int(), compact: z.boolean() }

export const argumentFaults: Fault[] = [
  dropped('unknown_key', 'an invented name', file, { title: 'x', folderId: 'F1' }, 'folderId'),
  dropped(
    'wrong_case',
    'a name in another case',
    file,
    { title: 'x', parent_folder_id: 'F1' },
    'parent_folder_id',
  ),
  dropped('typo_key', 'a name with a typo', { limit: z.number().optional() }, { limt: 5 }, 'limt'),
  dropped(
    'wrapped_args',
    'all arguments inside params',
    { query: z.string().optional() },
    { params: { query: 'invoices' } },
    'params',
  ),
  dropped('args_unseen', 'a tool without a schema', undefined, { city: 'Berlin' }, 'city'),
  dropped(
    'nested_unknown',
    'an invented name inside an object',
    { filter: z.object({ year: z.number().optional() }) },
    { filter: { since: 2024 } },
    'since',
  ),
  bad('missing_key', 'a required name is missing', /\bq\b/, { q: z.string() }, { args: {} }),
  bad(
    'no_arguments',
    'no arguments at all',
    /\bq\b/,
    { q: z.string() },
    {
      params: { name: 'no_arguments' },
    },
  ),
  bad('number_as_text', 'numbers and booleans as text', /limit/, page, {
    args: { limit: '10', compact: 'false' },
  }),
  bad('fraction', '1.5 for an integer', /limit/, page, { args: { limit: 1.5, compact: true } }),
  bad(
    'null_optional',
    'null for an optional one',
    /start_date/,
    { start_date: z.string().optional() },
    {
      args: { start_date: null },
    },
  ),
  bad(
    'array_as_text',
    'an array as JSON text',
    /actions/,
    { actions: z.array(z.object({})) },
    {
      args: { actions: '[{"get":{}}]' },
    },
  ),
  bad(
    'object_as_text',
    'an object as JSON text',
    /filter/,
    { filter: z.object({}) },
    {
      args: { filter: '{"a":1}' },
    },
  ),
  bad(
    'enum_case',
    'an enum value in another case',
    /order/,
    { order: z.enum(['ASC', 'DESC']) },
    {
      args: { order: 'asc' },
    },
  ),
  bad(
    'bad_date',
    'a date in the wrong form',
    /day/,
    { day: z.iso.date() },
    { args: { day: '1.2.2024' } },
  ),
  bad(
    'union',
    'none of a union',
    /when/,
    { when: z.union([z.string(), z.array(z.number())]) },
    {
      args: { when: 5 },
    },
  ),
  bad(
    'nested_items',
    'the second item of a list',
    /items\W+1\W+id/,
    {
      items: z.array(z.object({ id: z.number() })),
    },
    { args: { items: [{ id: 1 }, { id: '2' }] } },
  ),
  bad(
    'strict_extra',
    'an extra name, strict schema',
    /bogus/,
    { a: z.strictObject({}) },
    {
      args: { a: { bogus: 1 } },
    },
  ),
  bad('args_null', 'arguments: null', /object|record/, { q: z.string() }, { args: null }),
  bad(
    'args_text',
    'arguments as JSON text',
    /object|record/,
    { q: z.string() },
    { args: '{"q":1}' },
  ),
  bad('args_array', 'arguments: []', /object|record/, { q: z.string() }, { args: [] }),
  {
    ...bad('meta_null', '_meta: null', /_meta/, undefined, {
      params: { name: 'meta_null', arguments: {}, _meta: null },
    }),
    healed: /^done$/,
  },
  bad('no_name', 'no tool name', /name/, undefined, { params: { arguments: {} } }),
  bad('params_null', 'params: null', /params|name/, undefined, { params: null }),
  bad('missing_tool', 'a tool that is not there', /no tool|not found|unknown/i, undefined, {
    tool: 'get_invoices_v2',
  }),
  bad('proto_tool', 'a tool named constructor', /no tool|not found|unknown|disabled/i, undefined, {
    tool: 'constructor',
  }),
  {
    ...bad('disabled_tool', 'a tool that is switched off', /disabled|switched off/, undefined, {}),
    tool: { disabled: true, run: () => text('done') },
  },
]
