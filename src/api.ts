export type { Limits } from './part/limits.js'
