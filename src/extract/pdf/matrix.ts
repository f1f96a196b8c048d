/** PDF's six numbers [a b c d e f] (ISO 32000-2, 8.3.4). */
export type Matrix = readonly [number, number, number, number, number, number]

/** `m` first, then the other. */
export function times([a, b, c, d, e, f]: Matrix, m: Matrix): Matrix {
  return [
    a * m[0] + c * m[1],
    b * m[0] + d * m[1],
    a * m[2] + c * m[3],
    b * m[2] + d * m[3],
    a * m[4] + c * m[5] + e,
    b * m[4] + d * m[5] + f,
  ]
}
