/**
 * The closed lists of what can become of a content. The arrays are the single source: the SQL CHECK
 * constraints, the command line's `--state` values and the README's table are made from them.
 */

/** What is recorded for a content. The meaning of each and what ends it: sweep/transition.ts. */
export const CONTENT_STATES = [
  'pending',
  'extracting',
  'ok',
  'unsupported',
  'too-large',
  'skipped-tiny',
  'locked',
  'damaged',
  'failed-transient',
  'gave-up',
] as const
export type ContentState = (typeof CONTENT_STATES)[number]

/** Why an extractor declined a content for good (until something it depends on changes). */
export const DECLINED_STATES = [
  'unsupported',
  'too-large',
  'skipped-tiny',
  'locked',
  'damaged',
] as const
export type DeclinedState = (typeof DECLINED_STATES)[number]

/** Which limit cut a text short; what was read up to there is kept. */
export const CUTS = [
  'archive-bytes',
  'archive-entries',
  'nesting',
  'cells',
  'xml-depth',
  'ocr-pages',
  'ocr-pixels',
  'ocr-page-time',
  'text-chars',
  'text-time',
  'document-time',
] as const
export type CutBy = (typeof CUTS)[number]

/** Why a content that was read without trouble holds no text. */
export const EMPTY_REASONS = [
  'no-content', // the document itself is empty
  'no-text-layer', // a PDF of pictures, and OCR is off
  'only-images', // an Office document of pictures, and OCR is off
  'ocr-off', // an image, and OCR is off
  'no-text-found', // OCR looked and found none
] as const
export type EmptyReason = (typeof EMPTY_REASONS)[number]

/** Why a content is read (again). `explain` prints it. */
export const READ_REASONS = [
  'never-seen',
  'extractor-changed',
  'limits-changed',
  'languages-changed',
  'passwords-changed',
  'retry-due',
  'forced',
] as const
export type ReadReason = (typeof READ_REASONS)[number]

/** The two queues. Text is read first for the whole vault; pages of pixels wait behind. */
export const LANES = ['text', 'ocr'] as const
export type Lane = (typeof LANES)[number]
