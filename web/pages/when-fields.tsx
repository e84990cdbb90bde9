import { DEFAULT_FROM, DEFAULT_TO, type Filter } from '../queries/filter.ts'
import { printMinute, printWeekdays } from '../queries/filter-values.ts'
import { WEEKDAY_NAMES, WEEKDAYS } from './format.ts'

/** A choice for those who know no IANA name by heart; any other can be written into the URL. */
const COMMON_ZONES = [
  'UTC',
  'America/Los_Angeles',
  'America/Chicago',
  'America/New_York',
  'America/Sao_Paulo',
  'Europe/London',
  'Europe/Berlin',
  'Europe/Kyiv',
  'Asia/Kolkata',
  'Asia/Shanghai',
  'Asia/Tokyo',
  'Australia/Sydney',
] as const

export function WhenFields({ filter, defaultZone }: { filter: Filter; defaultZone: string }) {
  return (
    <fieldset class="facet when">
      <legend>When</legend>
      <div class="pair">
        <TextField name="from" label="From" value={filter.from} standard={DEFAULT_FROM} />
        <TextField name="to" label="To" value={filter.to} standard={DEFAULT_TO} />
      </div>
      <div class="pair">
        <TimeField name="tod_from" label="Each day from" minute={filter.timeOfDay?.fromMinute} />
        <TimeField name="tod_to" label="until" minute={filter.timeOfDay?.toMinute} />
      </div>
      <Weekdays weekdays={filter.weekdays} />
      <ZoneField zone={filter.zone} defaultZone={defaultZone} />
    </fieldset>
  )
}

function TextField({
  name,
  label,
  value,
  standard,
}: {
  name: string
  label: string
  value: string
  standard: string
}) {
  return (
    <label class="field">
      {label}
      <input
        type="text"
        id={`when-${name}`}
        name={name}
        value={value === standard ? '' : value}
        placeholder={standard}
        title="now-7d, now-24h, 2026-03-08 or 2026-03-08T02:15"
        autocomplete="off"
        spellcheck={false}
      />
    </label>
  )
}

function TimeField({
  name,
  label,
  minute,
}: {
  name: string
  label: string
  minute: number | undefined
}) {
  const value = minute === undefined ? '' : printMinute(minute === 1440 ? 0 : minute)
  return (
    <label class="field">
      {label}
      <input type="time" id={`when-${name}`} name={name} value={value} step={900} />
    </label>
  )
}

function Weekdays({ weekdays }: { weekdays: readonly number[] }) {
  return (
    <fieldset class="weekdays">
      <legend>Only on</legend>
      {WEEKDAYS.map((short, index) => (
        <label title={WEEKDAY_NAMES[index]}>
          <input
            type="checkbox"
            id={`when-dow-${index + 1}`}
            name="dow"
            value={printWeekdays([index + 1])}
            checked={weekdays.includes(index + 1)}
          />
          {short}
        </label>
      ))}
    </fieldset>
  )
}

function ZoneField({ zone, defaultZone }: { zone: string; defaultZone: string }) {
  const zones = [...new Set([defaultZone, zone, ...COMMON_ZONES])]
  return (
    <label class="field">
      Time zone
      <select id="when-tz" name="tz">
        {zones.map((name) => (
          <option value={name === defaultZone ? '' : name} selected={name === zone}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
