// Layout and drawing of the cells on a canvas. States differ by shape as well as by colour, and a device that
// is offline is drawn smaller.

import type { FleetDevice } from '@jobcast/client'
import { type CellTone, toneOf } from './cell-tone.ts'

type Layout = {
  columns: number
  rows: number
  cell: number
  width: number
  height: number
  count: number
}

const smallest = 6
const largest = 26
/** The height that the cells may fill before they become smaller. */
const comfortableHeight = 260

/** `height` is that of a display on a wall, which the cells fill and nobody scrolls. */
export function layoutOf(count: number, width: number, height?: number): Layout {
  const room = Math.sqrt((Math.max(1, width) * (height ?? comfortableHeight)) / Math.max(1, count))
  const cell =
    height === undefined
      ? Math.max(smallest, Math.min(largest, Math.floor(room)))
      : Math.max(2, Math.min(height / 4, fillingCell(count, width, height, Math.floor(room))))
  const columns = Math.max(1, Math.floor(width / cell))
  const rows = Math.ceil(count / columns)
  return { columns, rows, cell, width, height: rows * cell, count }
}

/** Whole rows and columns need a little more room than their area. */
function fillingCell(count: number, width: number, height: number, from: number): number {
  let cell = from
  while (cell > 2 && Math.ceil(count / Math.floor(width / cell)) * cell > height) cell--
  return cell
}

export function cellAt({ columns, cell, count }: Layout, x: number, y: number): number | undefined {
  const [column, row] = [Math.floor(x / cell), Math.floor(y / cell)]
  const index = row * columns + column
  return column >= 0 && column < columns && index >= 0 && index < count ? index : undefined
}

type Colors = Record<CellTone | 'cursor', string>

/** Reads the colours from tokens.css, so that the map has the same colours as other parts. */
export function readColors(): Colors {
  const style = getComputedStyle(document.documentElement)
  const read = (name: string) => style.getPropertyValue(name).trim()
  return {
    bad: read('--bad'),
    running: read('--running'),
    waiting: read('--waiting'),
    good: read('--good'),
    off: read('--off'),
    none: read('--line'),
    cursor: read('--text'),
  }
}

type Scene = { devices: FleetDevice[]; lit: CellTone | undefined; cursor: number | undefined; colors: Colors }

/** What the canvas shows. */
export type Drawn = { layout: Layout; scene: Scene; scale: number }

/** Draws only the cells that have changed since `before`, if nothing else has: many events change few of ten thousand cells. */
export function drawMap(canvas: HTMLCanvasElement, layout: Layout, scene: Scene, before?: Drawn): Drawn {
  const drawn = { layout, scene, scale: devicePixelRatio }
  const context = canvas.getContext('2d')
  if (!context) return drawn
  if (before === undefined || !isLike(before, drawn)) drawWhole(canvas, context, drawn)
  else drawChanged(context, drawn, before.scene.devices)
  return drawn
}

/** The cursor is larger than its cell. */
function isLike(before: Drawn, { layout, scene, scale }: Drawn): boolean {
  const { columns, cell, width, height, count } = before.layout
  return (
    scale === before.scale &&
    columns === layout.columns &&
    cell === layout.cell &&
    width === layout.width &&
    height === layout.height &&
    count === layout.count &&
    scene.lit === before.scene.lit &&
    scene.colors === before.scene.colors &&
    scene.cursor === undefined &&
    before.scene.cursor === undefined
  )
}

function drawChanged(
  context: CanvasRenderingContext2D,
  { layout, scene }: Drawn,
  before: FleetDevice[],
): void {
  const { columns, cell } = layout
  for (const [index, device] of scene.devices.entries()) {
    if (device === before[index]) continue
    context.clearRect((index % columns) * cell, Math.floor(index / columns) * cell, cell, cell)
    drawDevice(context, layout, scene, index)
  }
}

function drawWhole(
  canvas: HTMLCanvasElement,
  context: CanvasRenderingContext2D,
  { layout, scene, scale }: Drawn,
): void {
  canvas.width = Math.round(layout.width * scale)
  canvas.height = Math.round(layout.height * scale)
  canvas.style.width = `${layout.width}px`
  canvas.style.height = `${layout.height}px`
  context.scale(scale, scale)
  for (const index of scene.devices.keys()) drawDevice(context, layout, scene, index)
  if (scene.cursor !== undefined) drawCursor(context, layout, scene.cursor, scene.colors.cursor)
}

function drawDevice(
  context: CanvasRenderingContext2D,
  layout: Layout,
  { devices, lit, colors }: Scene,
  index: number,
): void {
  const device = devices[index] as FleetDevice
  const tone = toneOf(device)
  context.globalAlpha = lit === undefined || lit === tone ? 1 : 0.12
  drawCell(context, layout, index, tone, device.online, colors)
  context.globalAlpha = 1
}

function drawCell(
  context: CanvasRenderingContext2D,
  { columns, cell }: Layout,
  index: number,
  tone: CellTone,
  online: boolean,
  colors: Colors,
): void {
  const gap = cell >= 12 ? Math.max(3, Math.round(cell / 8)) : 1
  const inset = online ? 0 : Math.max(1, Math.round(cell * 0.18))
  const size = cell - gap - 2 * inset
  const x = (index % columns) * cell + inset
  const y = Math.floor(index / columns) * cell + inset
  context.fillStyle = colors[tone]
  if (tone === 'waiting' && size > 3) {
    context.strokeStyle = colors[tone]
    context.lineWidth = size >= 9 ? Math.max(2, Math.round(size / 10)) : 1
    const half = context.lineWidth / 2
    context.strokeRect(x + half, y + half, size - 2 * half, size - 2 * half)
    return
  }
  context.fillRect(x, y, size, size)
  if (tone === 'bad' && size >= 9) drawCross(context, x, y, size)
}

function drawCross(context: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  const edge = size * 0.3
  context.strokeStyle = '#fff'
  context.lineWidth = Math.max(1.5, size / 10)
  context.beginPath()
  context.moveTo(x + edge, y + edge)
  context.lineTo(x + size - edge, y + size - edge)
  context.moveTo(x + size - edge, y + edge)
  context.lineTo(x + edge, y + size - edge)
  context.stroke()
}

function drawCursor(
  context: CanvasRenderingContext2D,
  { columns, cell }: Layout,
  index: number,
  color: string,
): void {
  context.strokeStyle = color
  context.lineWidth = 2
  context.strokeRect((index % columns) * cell, Math.floor(index / columns) * cell, cell - 1, cell - 1)
}
