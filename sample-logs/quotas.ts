import { WRONG_NAME } from './planted.ts'
import { createQuota, createRandom } from './random.ts'
import type { Quotas } from './script.ts'

/** How often the planted things come up, each as a share of its occasions. */
const SHARES: Record<keyof Quotas, number> = {
  /** Of sessions that search. */
  wrongName: 0.17,
  neverCorrected: WRONG_NAME.neverCorrectedShare,
  /** Of the one client's sessions that list invoices. */
  stringNumber: 0.45,
  /** Of calls. */
  hallucinated: 0.14,
  /** Of billing sessions. */
  loop: 0.025,
  loopRecovers: 0.5,
  rateLimit: 0.012,
  /** Of all sessions. */
  unknownTool: 0.012,
  /** Of invoices and documents asked for: they do not exist. */
  missing: 0.012,
  /** Of invoices to be created. */
  deferred: 0.1,
  /** Of summaries. */
  cancelled: 0.04,
}

export function createQuotas(seed: number): Quotas {
  const quota = (name: keyof Quotas): (() => boolean) =>
    createQuota(SHARES[name], createRandom(seed, `quota ${name}`))
  return {
    wrongName: quota('wrongName'),
    neverCorrected: quota('neverCorrected'),
    stringNumber: quota('stringNumber'),
    hallucinated: quota('hallucinated'),
    loop: quota('loop'),
    loopRecovers: quota('loopRecovers'),
    rateLimit: quota('rateLimit'),
    unknownTool: quota('unknownTool'),
    missing: quota('missing'),
    deferred: quota('deferred'),
    cancelled: quota('cancelled'),
  }
}
