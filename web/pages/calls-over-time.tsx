import type { TimeBucket } from '../queries/call-store.ts'
import { withRange } from '../queries/filter.ts'
import { FAMILIES, FAMILY_WORDS, type Family, FamilyIcon, familyOfClass } from './families.tsx'
import { formatCount, formatInstant, plural } from './format.ts'
import { JsonIsland } from './json-island.tsx'
import { callsHref, type View } from './links.tsx'
import { WideTable } from './parts.tsx'

export type Series = { family: Family; values: number[]; total: number }

/** One series a family that occurs, in stack order. Their sum is the number of calls. */
export function seriesOf(buckets: readonly TimeBucket[]): Series[] {
  const counts = buckets.map(countByFamily)
  return FAMILIES.map((family) => {
    const values = counts.map((count) => count[family])
    return { family, values, total: values.reduce((sum, value) => sum + value, 0) }
  }).filter(({ total }) => total > 0)
}

function countByFamily({ byOutcome, byClass }: TimeBucket): Record<Family, number> {
  const count: Record<Family, number> = {
    succeeded: byOutcome.succeeded,
    retried: byOutcome.retried,
    network: 0,
    arguments: 0,
    result: 0,
    process: 0,
    aside: byOutcome.deferred,
  }
  let classed = 0
  for (const [errorClass, calls] of Object.entries(byClass)) {
    count[familyOfClass(errorClass)] += calls
    classed += calls
  }
  count.process += Math.max(0, byOutcome.failed - classed)
  return count
}

export function CallsOverTime({ view, buckets }: { view: View; buckets: TimeBucket[] }) {
  const series = seriesOf(buckets)
  if (series.length === 0) return null
  return (
    <section aria-labelledby="over-time">
      <div class="section-head">
        <h2 id="over-time">Calls over time</h2>
        <Legend series={series} />
      </div>
      <div class="chart-box" role="img" aria-label={takeaway(series, buckets, view)}>
        <canvas hx-morph-skip="true" data-chart="over-time-data" hidden></canvas>
        <StackSvg series={series} buckets={buckets} />
      </div>
      <JsonIsland id="over-time-data" value={chartData(view, series, buckets)} />
      <NumbersTable view={view} series={series} buckets={buckets} />
    </section>
  )
}

function Legend({ series }: { series: Series[] }) {
  return (
    <ul class="legend">
      {series.map(({ family, total }) => (
        <li>
          <FamilyIcon family={family} />
          {FAMILY_WORDS[family]} <span class="number">{formatCount(total)}</span>
        </li>
      ))}
    </ul>
  )
}

function isFailing(family: Family): boolean {
  return family !== 'succeeded' && family !== 'retried' && family !== 'aside'
}

function takeaway(series: Series[], buckets: TimeBucket[], view: View): string {
  const calls = series.reduce((sum, { total }) => sum + total, 0)
  const failing = buckets.map((_, index) =>
    series.reduce(
      (sum, { family, values }) => sum + (isFailing(family) ? (values[index] ?? 0) : 0),
      0,
    ),
  )
  const failed = failing.reduce((sum, value) => sum + value, 0)
  const counted = `${plural(calls, 'call')}, ${formatCount(failed)} of them failed`
  const most = failing.indexOf(Math.max(...failing))
  const worst = buckets[most]
  if (failed === 0 || !worst) return `Bar chart of calls over time: ${counted}.`
  const when = labelOf(worst, view)
  return `Bar chart of calls over time: ${counted}, most of these, ${formatCount(failing[most] ?? 0)}, from ${when}. The numbers are in the table below.`
}

/** Buckets of a day and more are days; shorter ones have a time. */
function labelOf({ startMs, endMs }: TimeBucket, { filter }: View): string {
  const isDay = endMs - startMs >= 23 * 3_600_000
  return formatInstant(startMs, filter.zone, isDay ? 'day' : 'minute')
}

function bucketHref(bucket: TimeBucket, view: View): string {
  return callsHref(view, withRange(view.filter, bucket.startMs, bucket.endMs))
}

/** What dashboard.js draws. Every text is made here, so that there is one way to write a time. */
function chartData(view: View, series: Series[], buckets: TimeBucket[]) {
  return {
    labels: buckets.map((bucket) => labelOf(bucket, view)),
    links: buckets.map((bucket) => bucketHref(bucket, view)),
    unfinished: buckets.map(({ unfinished }) => unfinished),
    series: series.map(({ family, values }) => ({
      family,
      label: FAMILY_WORDS[family],
      values,
    })),
  }
}

const WIDTH = 1000
const HEIGHT = 200

/** Shown until a script draws the same, and where none runs, and on paper. */
function StackSvg({ series, buckets }: { series: Series[]; buckets: TimeBucket[] }) {
  const sums = buckets.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
  const top = Math.max(1, ...sums)
  const step = WIDTH / buckets.length
  const heights = buckets.map(() => 0)
  const paths = series.map(({ family, values }) => {
    let d = ''
    for (const [i, value] of values.entries()) {
      if (value === 0) continue
      const height = (value / top) * HEIGHT
      const from = heights[i] ?? 0
      heights[i] = from + height
      const x = (i * step + step * 0.08).toFixed(1)
      d += `M${x} ${(HEIGHT - from).toFixed(1)}h${(step * 0.84).toFixed(1)}v-${height.toFixed(1)}h-${(step * 0.84).toFixed(1)}z`
    }
    return <path class={`fill-${family}`} d={d} />
  })
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {paths}
      <path class="axis" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
    </svg>
  )
}

function NumbersTable({
  view,
  series,
  buckets,
}: {
  view: View
  series: Series[]
  buckets: TimeBucket[]
}) {
  return (
    <details id="over-time-numbers" class="numbers">
      <summary>The numbers as a table</summary>
      <WideTable label="Calls over time, as numbers" class="compact">
        <thead>
          <tr>
            <th scope="col">From ({view.filter.zone})</th>
            {series.map(({ family }) => (
              <th scope="col" class="number">
                {FAMILY_WORDS[family]}
              </th>
            ))}
            <th scope="col" class="number">
              All
            </th>
          </tr>
        </thead>
        <tbody>
          {buckets.map((bucket, i) => (
            <tr>
              <th scope="row">
                {labelOf(bucket, view)}
                {bucket.unfinished && <span class="quiet"> so far</span>}
              </th>
              {series.map(({ values }) => (
                <td class="number">{formatCount(values[i])}</td>
              ))}
              <td class="number">
                <a href={bucketHref(bucket, view)}>
                  {formatCount(series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))}
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </WideTable>
    </details>
  )
}
