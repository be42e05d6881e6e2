// A screenshot with at most 256 colors, which is a third as large. For PNGs as Chromium writes them: 8 bits, RGB or RGBA, not
// interlaced; transparency is dropped.

import { crc32, deflateSync, inflateSync } from 'node:zlib'

const signature = Buffer.from('89504e470d0a1a0a', 'hex')

export function toPalettePng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png)
  const palette = commonColors(pixels)
  const indexes = new Map<number, number>()
  const rows = Buffer.alloc(height * (width + 1)) // each begins with 0: no filter
  for (const [at, color] of pixels.entries()) {
    let index = indexes.get(color)
    if (index === undefined) {
      index = nearest(palette, color)
      indexes.set(color, index)
    }
    rows[Math.floor(at / width) * (width + 1) + 1 + (at % width)] = index
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const colors = Buffer.from(palette.flatMap(channels))
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const channels = (color: number) => [color >> 16, (color >> 8) & 255, color & 255] as const

function decode(png: Buffer): { width: number; height: number; pixels: Uint32Array } {
  const parts: Buffer[] = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length))
    at += 12 + length
  }
  const [width, height, step] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] === 6 ? 4 : 3]
  const data = inflateSync(Buffer.concat(parts))
  const stride = width * step
  const pixels = new Uint32Array(width * height)
  let above = new Uint8Array(stride)
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1)
    const row = unfilter(data[start] ?? 0, data.subarray(start + 1, start + 1 + stride), above, step)
    for (let x = 0; x < width; x++) {
      const at = x * step
      pixels[y * width + x] = ((row[at] ?? 0) << 16) | ((row[at + 1] ?? 0) << 8) | (row[at + 2] ?? 0)
    }
    above = row
  }
  return { width, height, pixels }
}

/** The five filters of PNG. */
function unfilter(kind: number, bytes: Uint8Array, above: Uint8Array, step: number): Uint8Array<ArrayBuffer> {
  const row = new Uint8Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) {
    const left = at < step ? 0 : (row[at - step] ?? 0)
    const up = above[at] ?? 0
    const corner = at < step ? 0 : (above[at - step] ?? 0)
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind] ?? 0
    row[at] = (bytes[at] ?? 0) + guess
  }
  return row
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

/** The most frequent ones that are not almost the same as a more frequent one. */
function commonColors(pixels: Uint32Array): number[] {
  const counts = new Map<number, number>()
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1)
  const palette: number[] = []
  for (const [color] of [...counts].sort((one, other) => other[1] - one[1])) {
    if (palette.length === 256) break
    if (palette.every((chosen) => distance(chosen, color) > 48)) palette.push(color)
  }
  return palette
}

function nearest(palette: number[], color: number): number {
  let best = 0
  for (const [index, chosen] of palette.entries()) {
    if (distance(chosen, color) < distance(palette[best] ?? 0, color)) best = index
  }
  return best
}

function distance(one: number, other: number): number {
  const [r, g, b] = channels(one)
  const [r2, g2, b2] = channels(other)
  return (r - r2) ** 2 + (g - g2) ** 2 + (b - b2) ** 2
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
