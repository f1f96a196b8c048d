/**
 * Which process recognises a page for this thread. A thread that is ended cannot end it, and it would go on with the page: so
 * whoever ends threads is told (workers/task.ts). A module of its own, because threads that parse mail load no OCR.
 */
export const child: {
  /** Told the process's id when it starts, and 0 when it is gone. */
  onChange: (pid: number) => void
} = { onChange: () => {} }
