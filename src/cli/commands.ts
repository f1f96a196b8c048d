/**
 * The commands: one row each, one file each. The file is loaded when the command runs, so that `--help`
 * and `--version` load no database and no parser.
 */
import type { Arguments, CommandName } from './flags.js'

/** What main gives a command beside its arguments. */
export interface Surroundings {
  /** Fires on Ctrl-C, SIGTERM, SIGHUP, and when the reader of standard output is gone. */
  readonly signal: AbortSignal
}

export type Run = (given: Arguments, surroundings: Surroundings) => Promise<number>

export interface Command {
  readonly name: CommandName
  /** What stands after the name, as help writes it. */
  readonly usage: string
  readonly summary: string
  /** Words that must stand there at least, and at most. */
  readonly words: readonly [least: number, most: number]
  load(): Promise<{ run: Run }>
}

export const COMMANDS: readonly Command[] = [
  {
    name: 'index',
    usage: 'VAULT…',
    summary: 'make or bring up to date the index of a vault, attachments included',
    words: [1, Infinity],
    load: () => import('./index-vault.js'),
  },
  {
    name: 'watch',
    usage: 'VAULT',
    summary: 'the same, then follow changes',
    words: [1, 1],
    load: () => import('./watch.js'),
  },
  {
    name: 'search',
    usage: 'VAULT QUERY…',
    summary: 'find messages by their words and the words of their attachments',
    words: [2, Infinity],
    load: () => import('./search.js'),
  },
  {
    name: 'status',
    usage: 'VAULT',
    summary: 'say what can be searched, what is left to read, and what could not be read and why',
    words: [1, 1],
    load: () => import('./status.js'),
  },
  {
    name: 'explain',
    usage: 'VAULT MESSAGE|HASH|FILENAME',
    summary: 'show the state of each part of a message and why',
    words: [2, Infinity],
    load: () => import('./explain.js'),
  },
  {
    name: 're-extract',
    usage: 'VAULT',
    summary: 'read chosen attachments again',
    words: [1, 1],
    load: () => import('./re-extract.js'),
  },
  {
    name: 'extract',
    usage: 'FILE|DIR…',
    summary: 'print the text of documents; no index is made',
    words: [0, Infinity],
    load: () => import('./extract.js'),
  },
  {
    name: 'formats',
    usage: '',
    summary: 'list what is read, by which extractor, at which version',
    words: [0, 0],
    load: () => import('./formats.js'),
  },
  {
    name: 'verify',
    usage: 'VAULT',
    summary: 'compare the index with the vault and the extracts',
    words: [1, 1],
    load: () => import('./verify.js'),
  },
  {
    name: 'doctor',
    usage: '',
    summary: 'list OCR engines and languages found, and how to add one',
    words: [0, 0],
    load: () => import('./doctor.js'),
  },
]
