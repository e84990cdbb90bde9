import { isObject, readProperty, readString } from '../safe-read.ts'

const MAX_RETRY_AFTER_S = 31 * 24 * 3600
const MAX_HOST_LENGTH = 200

/** The HTTP status an error reports, in the shapes of the usual clients; undefined below 400. */
export function statusOf(error: unknown): number | undefined {
  const response = readProperty(error, 'response')
  const candidates = [
    readProperty(response, 'status'),
    readProperty(response, 'statusCode'),
    readProperty(error, 'status'),
    readProperty(error, 'statusCode'),
    readProperty(readProperty(error, '$metadata'), 'httpStatusCode'),
    readProperty(readProperty(error, '$response'), 'statusCode'),
    readProperty(readProperty(error, 'output'), 'statusCode'),
    readProperty(error, 'httpStatus'),
    readProperty(error, 'code'),
  ]
  for (const candidate of candidates) {
    const status = typeof candidate === 'string' ? numberIn(candidate) : candidate
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) {
      return status
    }
  }
  return undefined
}

function numberIn(text: string): number | undefined {
  return /^\d{3}$/.test(text) ? Number(text) : undefined
}

/** Retry-After in seconds, from 0 to a month; undefined where there is none or it is malformed. */
export function retryAfterSeconds(error: unknown, nowMs: number): number | undefined {
  const response = readProperty(error, 'response')
  const holders = [
    readProperty(response, 'headers'),
    readProperty(error, 'headers'),
    readProperty(error, 'responseHeaders'),
    readProperty(readProperty(error, '$response'), 'headers'),
  ]
  for (const headers of holders) {
    const seconds =
      milliseconds(headerOf(headers, 'retry-after-ms')) ??
      secondsOrDate(headerOf(headers, 'retry-after'), nowMs)
    if (seconds !== undefined) return Math.min(seconds, MAX_RETRY_AFTER_S)
  }
  const own = readProperty(error, 'retryAfter')
  const seconds = secondsOrDate(typeof own === 'number' ? String(own) : own, nowMs)
  return seconds === undefined ? undefined : Math.min(seconds, MAX_RETRY_AFTER_S)
}

function milliseconds(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d{1,12}$/.test(value.trim())
    ? Number(value) / 1000
    : undefined
}

/** `120`, or `Fri, 31 Dec 1999 23:59:59 GMT`; a date that has passed means now. */
function secondsOrDate(value: unknown, nowMs: number): number | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return Number(text)
  if (!/^[A-Za-z]{3,9},? .{1,40}$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000))
}

/** From a Headers object, a Map, or a plain object with names in any case. */
function headerOf(headers: unknown, name: string): unknown {
  if (!isObject(headers)) return undefined
  try {
    const get = readProperty(headers, 'get')
    const value = typeof get === 'function' ? get.call(headers, name) : undefined
    if (value !== undefined && value !== null) return one(value)
    for (const key of Object.keys(headers)) {
      if (key.toLowerCase() === name) return one(readProperty(headers, key))
    }
  } catch {
    return undefined
  }
  return undefined
}

function one(value: unknown): unknown {
  const first = Array.isArray(value) ? value[0] : value
  return typeof first === 'number' ? String(first) : first
}

/** Host, with its port where the error names one, of the upstream that failed. */
export function upstreamOf(error: unknown): string | undefined {
  const named = readString(error, 'upstream')
  if (named) return named.slice(0, MAX_HOST_LENGTH)
  const host =
    readString(error, 'hostname') ?? readString(error, 'host') ?? readString(error, 'address')
  if (host) return withPort(host, readProperty(error, 'port'))
  const config = readProperty(error, 'config')
  const response = readProperty(error, 'response')
  for (const holder of [response, config, readProperty(error, 'request'), error]) {
    const found =
      hostOfUrl(readProperty(holder, 'url')) ?? hostOfUrl(readProperty(holder, 'baseURL'))
    if (found) return found
  }
  return undefined
}

function withPort(host: string, port: unknown): string {
  const name = (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host).slice(
    0,
    MAX_HOST_LENGTH,
  )
  return typeof port === 'number' || typeof port === 'string'
    ? `${name}:${port}`.slice(0, 210)
    : name
}

/** The host alone: path, query and credentials of a URL may be secret. */
function hostOfUrl(url: unknown): string | undefined {
  const text = typeof url === 'string' ? url : readString(url, 'href')
  if (!text || !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return undefined
  try {
    return new URL(text).host.slice(0, MAX_HOST_LENGTH) || undefined
  } catch {
    return undefined
  }
}
