/** How long a reading would take, from what this machine measured at earlier ones. */
import type { ContentRow } from '../index/rows.js'
import type { Store } from '../index/store.js'
import type { Settings } from '../part/options.js'

export interface Estimate {
  contents: number
  /** Pages that would be recognised, as far as is known. */
  pagesToOcr: number
  /** On this machine with these settings; absent while nothing has been measured. */
  hours?: number
}

/** @param rows the contents that would be read */
export function estimate(
  store: Pick<Store, 'contents'>,
  settings: Pick<Settings, 'ocr' | 'workers' | 'limits'>,
  rows: readonly ContentRow[],
): Estimate {
  const rates = measured(store)
  let textMs = 0
  let pagesToOcr = 0
  for (const row of rows) {
    const pages = settings.ocr === false ? 0 : (row.ocrPages ?? row.pagesToOcr ?? 0)
    pagesToOcr += Math.min(pages, settings.limits.ocrPages)
    if ((row.ocrPages ?? 0) === 0) textMs += row.ms ?? rates?.contentMs ?? 0
  }
  if (!rates) return { contents: rows.length, pagesToOcr }
  const hours = (textMs / settings.workers + pagesToOcr * rates.pageMs) / 3_600_000
  return { contents: rows.length, pagesToOcr, hours: Math.round(hours * 1000) / 1000 }
}

/** Until a page has been recognised here: the CPU seconds of one at 200 dpi on a machine of 2026. */
const PAGE_MS = 7_000

/** The same for all that waits, from kept counts. */
export function estimateBacklog(
  store: Pick<Store, 'contents'>,
  settings: Pick<Settings, 'ocr' | 'workers'>,
): Estimate {
  const rates = measured(store)
  let contents = 0
  let pagesToOcr = 0
  let ms = 0
  for (const work of store.contents.backlogWork()) {
    contents += work.contents
    if (work.lane === 'text') ms += (work.contents * (rates?.contentMs ?? 0)) / settings.workers
    else if (settings.ocr !== false) {
      pagesToOcr += work.pages
      ms += work.pages * (rates?.pageMs ?? 0)
    }
  }
  if (!rates) return { contents, pagesToOcr }
  return { contents, pagesToOcr, hours: Math.round(ms / 3600) / 1000 }
}

function measured(
  store: Pick<Store, 'contents'>,
): { contentMs: number; pageMs: number } | undefined {
  let contents = 0
  let contentMs = 0
  let pages = 0
  let pagesMs = 0
  for (const rate of store.contents.rates()) {
    if (rate.ocrPages > 0) {
      pages += rate.ocrPages
      pagesMs += rate.ms
    } else {
      contents += rate.contents
      contentMs += rate.ms
    }
  }
  if (contents + pages === 0) return undefined
  return {
    contentMs: contents > 0 ? contentMs / contents : 50,
    pageMs: pages > 0 ? pagesMs / pages : PAGE_MS,
  }
}
