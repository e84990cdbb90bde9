import type { Facets, FacetValue } from '../queries/call-store.ts'
import { type ChoiceName, type Filter, toggleValue } from '../queries/filter.ts'
import { printChosen } from '../queries/filter-values.ts'
import { CHOICE_WORDS, wordOfValue } from './filter-words.ts'
import { formatCount } from './format.ts'
import { filterHref, idOf, SwapLink, type View } from './links.tsx'
import { WhenFields } from './when-fields.tsx'

/** A refused field is explained above the form, which stays as it is so that it can be mended. */
const KEEP_FORM_ON_BAD_INPUT = { 'hx-status:400': 'target:#problem push:false' }

/** Long lists have a column of their own, short ones share one. */
const FACET_COLUMNS = [['tool'], ['class'], ['outcome', 'server', 'client']] as const

/** Everything that can be filtered, with the number of calls behind each value. */
export function FilterPanel({ view, facets, open }: { view: View; facets: Facets; open: boolean }) {
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
