import { type Finding, type FindingKind, GRADES, type Grade } from '../analysis/finding.ts'
import type { TimeoutWindow } from '../analysis/timeout-window.ts'
import { OccurrenceStrip } from './occurrence-strip.tsx'
import { Sentence } from './visible-text.tsx'

/** What is seldom noticed without us comes first: the night, then silence, then what models send. */
const KIND_ORDER: readonly FindingKind[] = [
  'timeout_window',
  'silence',
  'malformed_arguments',
  'ignored_arguments',
  'retry_loop',
  'incident',
]

/**
 * The few that are shown first: the best of each kind, then the best of the rest, in their order.
 * Ten broken arguments must not hide the one window at night.
 */
export function bestOfEachKind(findings: readonly Finding[], most: number): Finding[] {
  const firstOfKind = KIND_ORDER.flatMap(
    (kind) => findings.find((found) => found.kind === kind) ?? [],
  )
  const chosen = new Set([...firstOfKind.sort(byGrade), ...findings])
  return [...chosen].slice(0, most)
}

function byGrade(a: Finding, b: Finding): number {
  return GRADES.indexOf(a.grade) - GRADES.indexOf(b.grade)
}

/** Findings as they are read: what is wrong, how sure we are, what to do, how you will know. */
export function FindingCards({
  findings,
  windows,
  level,
}: {
  findings: readonly Finding[]
  /** For the picture on the cards of windows. */
  windows: readonly TimeoutWindow[]
  level: 'h2' | 'h3'
}) {
  return (
    <ul class="cards">
      {findings.map((finding) => (
        <li>
          <Card
            finding={finding}
            window={windows.find(({ id }) => id === finding.id)}
            level={level}
          />
        </li>
      ))}
    </ul>
  )
}

function Card({
  finding,
  window,
  level: Heading,
}: {
  finding: Finding
  window: TimeoutWindow | undefined
  level: 'h2' | 'h3'
}) {
  return (
    <article class={`card edge-${finding.family}`}>
      <p class="card-grade">
        <GradeMeter grade={finding.grade} />
        <span class="card-impact">{finding.impactText}</span>
      </p>
      <Heading class="card-sentence">
        <Sentence text={finding.sentence} />
      </Heading>
      {window && <OccurrenceStrip window={window} />}
      <p class="card-action">
        <Sentence text={finding.action} />
      </p>
      <p class="card-check">
        <Sentence text={finding.check} />
      </p>
      <p class="card-links">
        <a href={`/calls?${finding.evidenceQuery}`}>See the calls</a>
        {!finding.detailPath.startsWith('/calls') && (
          <a href={finding.detailPath}>{DETAIL_WORDS[finding.kind] ?? 'How computed'}</a>
        )}
      </p>
    </article>
  )
}

const DETAIL_WORDS: Readonly<Partial<Record<FindingKind, string>>> = {
  malformed_arguments: 'What to paste',
  ignored_arguments: 'What to paste',
}

const LEVELS: Readonly<Record<Grade, number>> = {
  confirmed: 5,
  likely: 4,
  possible: 3,
  emerging: 2,
  fading: 1,
}

const GRADE_WORDS: Readonly<Record<Grade, string>> = {
  confirmed: 'Confirmed',
  likely: 'Likely',
  possible: 'Possible',
  emerging: 'Emerging',
  fading: 'Fading',
}

/** The grade in a word, beside five steps that fill with certainty. */
export function GradeMeter({ grade }: { grade: Grade }) {
  return (
    <span class="grade">
      <svg viewBox="0 0 38 8" aria-hidden="true">
        {[0, 1, 2, 3, 4].map((step) => (
          <rect
            class={step < LEVELS[grade] ? 'on' : 'off'}
            x={step * 8}
            y="0.5"
            width="6"
            height="7"
            rx="1"
          />
        ))}
      </svg>
      {GRADE_WORDS[grade]}
    </span>
  )
}
