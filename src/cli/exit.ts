/** How the program ends. A stable contract: scripts and mail servers read it. */
export const EXIT = {
  done: 0,
  /** `search` found nothing; nothing is wrong. */
  nothingFound: 1,
  /** Bad usage, or an error that the message explains. */
  error: 2,
  /** The run was complete, but contents are left that a later run tries again (EX_TEMPFAIL). */
  retryLater: 75,
  /** Ended by Ctrl-C, with the claims given back. */
  interrupted: 130,
  /** Ended by SIGTERM, with the claims given back. */
  terminated: 143,
} as const

/** Thrown for a call that cannot be understood: the message names the argument and the rule. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
