/** Shapes of a slide in the order a person reads them: rows from the top, each from the left. */
import type { Shape } from './shapes.js'

/** Shapes whose tops lie within this share of the lower one's height stand in one row. */
const ROW_SHARE = 0.5

/** Sorts shapes, and those in groups among themselves; shapes without a place keep theirs before the others. */
export function inReadingOrder(shapes: readonly Shape[]): Shape[] {
  for (const shape of shapes)
    if (shape.children.length > 1) shape.children = inReadingOrder(shape.children)
  const placed = shapes.filter(({ box }) => box)
  const others = shapes.filter(({ box }) => !box)
  placed.sort((one, other) => top(one) - top(other) || left(one) - left(other))
  const rows: Shape[][] = []
  for (const shape of placed) {
    const row = rows[rows.length - 1]
    const first = row?.[0]
    if (
      row &&
      first &&
      top(shape) - top(first) < ROW_SHARE * Math.min(height(first), height(shape))
    )
      row.push(shape)
    else rows.push([shape])
  }
  return [...others, ...rows.flatMap((row) => row.sort((one, other) => left(one) - left(other)))]
}

const left = (shape: Shape): number => shape.box?.[0] ?? 0
const top = (shape: Shape): number => shape.box?.[1] ?? 0
const height = (shape: Shape): number => shape.box?.[3] ?? 0
