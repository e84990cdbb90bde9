import type { PropsWithChildren } from 'hono/jsx'
import type { Facets } from '../queries/call-store.ts'
import {
  CHOICE_NAMES,
  DEFAULT_FROM,
  DEFAULT_TO,
  type Filter,
  isUnfiltered,
  withValue,
} from '../queries/filter.ts'
import { printTimeOfDay } from '../queries/filter-values.ts'
import { FilterPanel } from './filter-panel.tsx'
import { CHOICE_WORDS, wordOfValue } from './filter-words.ts'
import { formatInstant, WEEKDAYS } from './format.ts'
import { filterHref, idOf, SwapLink, type View } from './links.tsx'
import { shortened, visibleText } from './visible-text.tsx'

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
