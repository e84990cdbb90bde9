import type { PropsWithChildren } from 'hono/jsx'
import type { Facets, FacetValue } from '../queries/call-store.ts'
import {
  CHOICE_NAMES,
  type ChoiceName,
  DEFAULT_FROM,
  DEFAULT_TO,
  type Filter,
  isUnfiltered,
  toggleValue,
  withValue,
} from '../queries/filter.ts'
import { printChosen, printTimeOfDay } from '../queries/filter-values.ts'
import { OUTCOME_WORDS, wordOfClass } from './families.tsx'
import { formatCount, formatInstant, WEEKDAYS } from './format.ts'
import { filterHref, idOf, SwapLink, type View } from './links.tsx'
import { shortened, visibleText } from './visible-text.tsx'
import { WhenFields } from './when-fields.tsx'

const RANGES = [
  { from: 'now-1h', word: '1 hour' },
  { from: 'now-24h', word: '24 hours' },
  { from: 'now-7d', word: '7 days' },
  { from: DEFAULT_FROM, word: '28 days' },
] as const

/** Range, chips, and the panel with everything that can be filtered. */
export function FilterBar({
  view,
  facets,
  open,
  children,
}: PropsWithChildren<{ view: View; facets: Facets; open: boolean }>) {
  return (
    <>
      <div class="filter-bar">
        <RangeLinks view={view} />
        <Chips view={view} />
        <p class="zone">Times in {view.filter.zone}</p>
      </div>
      <div class="filter-panel">
        <FilterPanel view={view} facets={facets} open={open} />
        {children}
      </div>
    </>
  )
}

function RangeLinks({ view }: { view: View }) {
  const { filter } = view
  const isPreset = filter.to === DEFAULT_TO && RANGES.some(({ from }) => from === filter.from)
  return (
    <nav class="ranges" aria-label="Time range">
      {RANGES.map(({ from, word }) => {
        const current = filter.to === DEFAULT_TO && filter.from === from
        return (
          <SwapLink
            href={filterHref(view, view.path, { ...filter, from, to: DEFAULT_TO })}
            id={`range-${from}`}
            {...(current ? { 'aria-current': 'true' as const } : {})}
          >
            {word}
          </SwapLink>
        )
      })}
      {!isPreset && <span class="own-range">{rangeWords(filter)}</span>}
    </nav>
  )
}

function rangeWords({ fromMs, toMs, to, zone }: Filter): string {
  const end = to === DEFAULT_TO ? 'now' : formatInstant(toMs, zone, 'minute')
  return `${formatInstant(fromMs, zone, 'minute')} – ${end}`
}

type Chip = { id: string; words: string; without: Filter }

const CHOICE_WORDS: Readonly<Record<ChoiceName, string>> = {
  server: 'Server',
  version: 'Version',
  tool: 'Tool',
  class: 'Error class',
  outcome: 'Outcome',
  client: 'Client',
  flag: 'Mark',
}

function wordOfValue(name: ChoiceName, value: string): string {
  if (name === 'class') return wordOfClass(value)
  if (name === 'outcome') return OUTCOME_WORDS[value as keyof typeof OUTCOME_WORDS] ?? value
  return shortened(visibleText(value), 60)
}

function chipsOf(filter: Filter): Chip[] {
  const chips: Chip[] = []
  for (const name of CHOICE_NAMES) {
    for (const [verb, values] of [
      ['is', filter[name].include],
      ['is not', filter[name].exclude],
    ] as const) {
      for (const value of values) {
        const words = `${CHOICE_WORDS[name]} ${verb} ${wordOfValue(name, value)}`
        const without = withValue(filter, name, value, undefined)
        chips.push({ id: idOf('chip', name, value), words, without })
      }
    }
  }
  return [...chips, ...singleChips(filter)]
}

function singleChips(filter: Filter): Chip[] {
  const chips: Chip[] = []
  const add = (name: string, words: string, without: Filter) =>
    chips.push({ id: `chip-${name}`, words, without })
  const { session, signature, text, timeOfDay, weekdays } = filter
  if (text !== undefined) {
    const words = `Text contains ${shortened(visibleText(text), 40)}`
    add('text', words, { ...filter, text: undefined })
  }
  if (session !== undefined) {
    const words = `Session is ${shortened(visibleText(session), 16)}`
    add('session', words, { ...filter, session: undefined })
  }
  if (signature !== undefined) {
    const words = `Signature is ${shortened(visibleText(signature), 16)}`
    add('signature', words, { ...filter, signature: undefined })
  }
  if (timeOfDay) {
    const words = `Time of day ${printTimeOfDay(timeOfDay).replace('-', ' – ')}`
    add('tod', words, { ...filter, timeOfDay: undefined })
  }
  if (weekdays.length > 0) {
    const words = weekdays.map((day) => WEEKDAYS[day - 1]).join(', ')
    add('dow', words, { ...filter, weekdays: [] })
  }
  return chips
}

function Chips({ view }: { view: View }) {
  if (isUnfiltered(view.filter)) return null
  const { from, to } = view.filter
  const cleared = new URLSearchParams()
  if (from !== DEFAULT_FROM) cleared.set('from', from)
  if (to !== DEFAULT_TO) cleared.set('to', to)
  if (view.filter.zone !== view.defaultZone) cleared.set('tz', view.filter.zone)
  const clearHref = cleared.size === 0 ? view.path : `${view.path}?${cleared}`
  return (
    <ul class="chips" aria-label="Filters in use">
      {chipsOf(view.filter).map(({ id, words, without }) => (
        <li>
          <SwapLink
            href={filterHref(view, view.path, without)}
            id={id}
            aria-label={`Remove: ${words}`}
          >
            {words} <span aria-hidden="true">×</span>
          </SwapLink>
        </li>
      ))}
      <li>
        <SwapLink href={clearHref} id="clear-filters" class="clear">
          Clear all
        </SwapLink>
      </li>
    </ul>
  )
}

/** A refused field is explained above the form, which stays as it is so that it can be mended. */
const KEEP_FORM_ON_BAD_INPUT = { 'hx-status:400': 'target:#problem push:false' }

/** Long lists have a column of their own, short ones share one. */
const FACET_COLUMNS = [['tool'], ['class'], ['outcome', 'server', 'client']] as const

function FilterPanel({ view, facets, open }: { view: View; facets: Facets; open: boolean }) {
  return (
    <details class="filters" id="filters" open={open}>
      <summary>Filters</summary>
      <form
        method="get"
        action={view.path}
        hx-get={view.path}
        hx-target="#view"
        hx-push-url="true"
        hx-sync="#view:replace"
        hx-trigger="change delay:150ms, submit"
        {...KEEP_FORM_ON_BAD_INPUT}
      >
        <label class="field search">
          Text in arguments or errors
          <input
            type="search"
            id="filter-text"
            name="q"
            value={view.filter.text ?? ''}
            autocomplete="off"
            spellcheck={false}
          />
        </label>
        {FACET_COLUMNS.map((names) => (
          <div class="facet-column">
            {names.map((name) => (
              <FacetList view={view} name={name} values={facets[name]} />
            ))}
          </div>
        ))}
        <WhenFields filter={view.filter} defaultZone={view.defaultZone} />
        <KeptFields filter={view.filter} />
        <button type="submit" class="apply">
          Apply
        </button>
      </form>
    </details>
  )
}

/** Parts of the filter that the form has no field for. */
function KeptFields({ filter }: { filter: Filter }) {
  const kept: [string, string | undefined][] = [
    ['session', filter.session],
    ['signature', filter.signature],
    ...filter.version.include.map((value): [string, string] => ['version', value]),
    ...filter.version.exclude.map((value): [string, string] => ['version', `!${value}`]),
    ...filter.flag.include.map((value): [string, string] => ['flag', value]),
    ...filter.flag.exclude.map((value): [string, string] => ['flag', `!${value}`]),
  ]
  return (
    <>
      {kept.map(([name, value]) =>
        value === undefined ? null : <input type="hidden" name={name} value={value} />,
      )}
    </>
  )
}

/** More would not be read; what is chosen is always among them. */
const MAX_VALUES = 40

function FacetList({
  view,
  name,
  values,
}: {
  view: View
  name: (typeof FACET_COLUMNS)[number][number]
  values: FacetValue[]
}) {
  if (values.length === 0) return null
  const shown = values.filter((value, index) => index < MAX_VALUES || value.selected)
  return (
    <fieldset class="facet">
      <legend>{CHOICE_WORDS[name]}</legend>
      <ul>
        {shown.map((value) => (
          <FacetRow view={view} name={name} value={value} />
        ))}
      </ul>
      {shown.length < values.length && (
        <p class="note">
          {formatCount(values.length - shown.length)} more with fewer calls are not shown.
        </p>
      )}
    </fieldset>
  )
}

function FacetRow({ view, name, value }: { view: View; name: ChoiceName; value: FacetValue }) {
  const id = idOf('facet', name, value.value)
  const word = wordOfValue(name, value.value)
  const excluded = value.selected === 'exclude'
  return (
    <li class={excluded ? 'excluded' : undefined}>
      <label for={id}>
        <input
          type="checkbox"
          id={id}
          name={name}
          value={printChosen(value.value, excluded)}
          checked={value.selected !== undefined}
        />
        <span class="word">{excluded ? `not ${word}` : word}</span>{' '}
        <span class="count">{formatCount(value.calls)}</span>
      </label>
      {!excluded && (
        <SwapLink
          class="leave-out"
          id={`${id}-not`}
          href={filterHref(view, view.path, toggleValue(view.filter, name, value.value, 'exclude'))}
          aria-label={`Leave out ${word}`}
        >
          ≠
        </SwapLink>
      )}
    </li>
  )
}
