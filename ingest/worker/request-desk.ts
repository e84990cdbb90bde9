import type { Database } from '../store/load-sqlite.ts'
import {
  type Answer,
  createRequestInbox,
  type Request,
  type RequestKind,
  readAnswer,
  withdrawRequest,
  writeAnswer,
} from '../store/requests.ts'
import { StoreError } from '../store/store-error.ts'
import { forget } from './forget.ts'
import { RequestRefusal } from './request-refusal.ts'
import { retryRefused } from './retry-refused.ts'

export type RequestWork = {
  database: Database
  request: Request
  nowMs: number
}

/**
 * Does what a request asks, a step at a time: each `next` is one short transaction, so that tailing
 * goes on in between. Returns what to tell whoever asked. It may be begun again after a crash, so
 * it must not matter if a step is done twice. Throws RequestRefusal for what cannot be done.
 */
export type RequestHandler = (work: RequestWork) => Generator<void, Record<string, number>>

export type RequestHandlers = Partial<Record<RequestKind, RequestHandler>>

/** Each kind of request and who does it. */
export const REQUEST_HANDLERS: RequestHandlers = { forget, quarantine_retry: retryRefused }

/** Carries out requests between polls, one at a time. */
export type RequestDesk = {
  /** One step of the oldest request; false where there is none. Throws what SQLite throws. */
  step(database: Database): boolean
  /** A sentence while the state file cannot be read. */
  problem(): string | undefined
}

export function createRequestDesk(
  databasePath: string,
  now: () => number,
  handlers: RequestHandlers = REQUEST_HANDLERS,
): RequestDesk {
  const inbox = createRequestInbox(databasePath)
  let current: { request: Request; work: RequestProgress } | undefined
  let problem: string | undefined

  /** Whatever is wrong with the readers' file must not keep lines from being read. */
  function tolerant<T>(act: () => T, otherwise: T): T {
    try {
      const result = act()
      problem = undefined
      return result
    } catch (error) {
      if (!(error instanceof StoreError)) throw error
      problem = error.message
      return otherwise
    }
  }

  function takeNext(database: Database): void {
    for (const request of tolerant(() => inbox.waiting(), [])) {
      if (readAnswer(database, request.id) === undefined) {
        current = { request, work: startRequest({ database, request, nowMs: now() }, handlers) }
        return
      }
      tolerant(() => withdrawRequest(databasePath, request.id), false)
    }
  }

  /** After an error the request begins again. */
  function nextOrDrop(work: RequestProgress): Answer | undefined {
    try {
      return work.next()
    } catch (error) {
      current = undefined
      throw error
    }
  }

  return {
    step(database) {
      if (!current) takeNext(database)
      if (!current) return false
      const { request, work } = current
      const answer = nextOrDrop(work)
      if (answer) {
        writeAnswer(database, request, answer, now())
        current = undefined
        tolerant(() => withdrawRequest(databasePath, request.id), false)
      }
      return true
    },
    problem: () => problem,
  }
}

export type RequestProgress = { next(): Answer | undefined }

/** Does a step at each `next` until there is an answer. */
export function startRequest(
  work: RequestWork,
  handlers: RequestHandlers = REQUEST_HANDLERS,
): RequestProgress {
  const { kind } = work.request
  const handler = Object.hasOwn(handlers, kind) ? handlers[kind as RequestKind] : undefined
  const steps = handler?.(work)
  return {
    next() {
      if (!steps) return { outcome: 'refused', reason: unknownKind(work.request) }
      try {
        const step = steps.next()
        return step.done ? { outcome: 'done', counts: step.value } : undefined
      } catch (error) {
        if (!(error instanceof RequestRefusal)) throw error
        return { outcome: 'refused', reason: error.message }
      }
    },
  }
}

function unknownKind({ kind }: Request): string {
  return `The process that ingests does not know requests of the kind "${kind}"; restart it with the version of this command.`
}
