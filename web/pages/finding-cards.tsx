import type { Child } from 'hono/jsx'
import type { Finding, Grade } from '../analysis/finding.ts'
import { plural } from './format.ts'
import { Sentence } from './visible-text.tsx'

/** Findings as they are read: what is wrong, how sure we are, what to do, how you will know. */
export function FindingCards({
  findings,
  level,
  evidence,
}: {
  findings: readonly Finding[]
  level: 'h2' | 'h3'
  /** A small picture for a card, where there is one. */
  evidence?: ((finding: Finding) => Child) | undefined
}) {
  return (
    <ul class="cards">
      {findings.map((finding) => (
        <li>
          <Card finding={finding} level={level} evidence={evidence?.(finding)} />
        </li>
      ))}
    </ul>
  )
}

function Card({
  finding,
  level: Heading,
  evidence,
}: {
  finding: Finding
  level: 'h2' | 'h3'
  evidence: Child
}) {
  return (
    <article class={`card edge-${finding.family}`}>
      <p class="card-grade">
        <GradeMeter grade={finding.grade} />
      </p>
      <Heading class="card-sentence">
        <Sentence text={finding.sentence} />
      </Heading>
      <p class="card-impact">{impactOf(finding)}</p>
      {evidence}
      <p class="card-action">
        <Sentence text={finding.action} />
      </p>
      <p class="card-check">
        <Sentence text={finding.check} />
      </p>
      <p class="card-links">
        <a href={`/calls?${finding.evidenceQuery}`}>See the calls</a>
        <a href={finding.detailPath}>How computed</a>
      </p>
    </article>
  )
}

function impactOf({ impact, kind }: Finding): string {
  const calls = plural(impact.calls, kind === 'ignored_arguments' ? 'call' : 'failed call')
  return impact.sessions === 0 ? calls : `${calls} in ${plural(impact.sessions, 'session')}`
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
