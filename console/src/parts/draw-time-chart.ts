// Draws time series on a canvas, with a legend that shows the values under the pointer. Our own, because
// the library we had was a quarter of the scripts of a run's page, for two charts.

import type { Tone } from './exec-state.ts'

export type Curve = { label: string; tone: Tone; values: (number | null)[] }
export type ChartData = { times: number[]; curves: Curve[] }
export type TimeChartPlot = { setData: (data: ChartData) => void; close: () => void }

export type ChartLook = { height: number; format: (value: number) => string; most: number | undefined }

/** What is around the curves: room for the labels of the axes. */
const [left, right, top, bottom] = [56, 12, 8, 24]
const [spaceX, spaceY] = [90, 30]

export function drawTimeChart(box: HTMLElement, initial: ChartData, look: ChartLook): TimeChartPlot {
  const canvas = document.createElement('canvas')
  const legend = document.createElement('div')
  legend.className = 'chart-legend'
  box.append(canvas, legend)
  let data = initial
  let pointed: number | undefined
  const draw = () => {
    drawCurves(canvas, box.clientWidth, data, look, pointed)
    legend.replaceChildren(...legendOf(data, look, pointed))
  }
  canvas.onpointermove = ({ offsetX }) => {
    pointed = nearest(data.times, offsetX, canvas.clientWidth)
    draw()
  }
  canvas.onpointerleave = () => {
    pointed = undefined
    draw()
  }
  const observer = new ResizeObserver(draw)
  observer.observe(box)
  draw()
  return {
    setData(next) {
      data = next
      if (pointed !== undefined) pointed = Math.min(pointed, next.times.length - 1)
      draw()
    },
    close() {
      observer.disconnect()
      canvas.remove()
      legend.remove()
    },
  }
}

function drawCurves(
  canvas: HTMLCanvasElement,
  width: number,
  { times, curves }: ChartData,
  { height, format, most }: ChartLook,
  pointed: number | undefined,
): void {
  const context = canvas.getContext('2d')
  if (!context) return
  const style = getComputedStyle(canvas)
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim()
  canvas.width = Math.round(width * devicePixelRatio)
  canvas.height = Math.round(height * devicePixelRatio)
  canvas.style.width = `${width}px`
  canvas.style.height = `${height}px`
  context.scale(devicePixelRatio, devicePixelRatio)
  context.font = `12px ${style.fontFamily}`
  context.lineJoin = 'round'

  const largest = Math.max(0, ...curves.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const maximum = most ?? Math.max(1, largest * 1.05)
  const [from, until] = rangeOf(times)
  const x = (at: number) => left + ((width - left - right) * (at - from)) / (until - from)
  const y = (value: number) => height - bottom - ((height - top - bottom) * value) / maximum
  const line = (...points: [number, number][]) => {
    context.beginPath()
    for (const [index, point] of points.entries())
      index === 0 ? context.moveTo(...point) : context.lineTo(...point)
  }

  context.fillStyle = color('quiet')
  context.strokeStyle = color('line')
  context.textAlign = 'right'
  context.textBaseline = 'middle'
  const stepY = valueSteps.find((step) => ((height - top - bottom) * step) / maximum >= spaceY) ?? maximum
  for (let value = 0; value <= maximum; value += stepY) {
    line([left, y(value)], [width - right, y(value)])
    context.stroke()
    context.fillText(format(value), left - 8, y(value))
  }
  context.textAlign = 'center'
  context.textBaseline = 'bottom'
  const stepX = timeSteps.find((step) => x(from + step) - left >= spaceX) ?? (timeSteps.at(-1) as number)
  for (const at of ticks(from, until, stepX)) {
    // A label at the edge would be cut.
    const label = formatTick(at, stepX)
    const half = context.measureText(label).width / 2
    if (x(at) + half <= width) context.fillText(label, x(at), height - 2)
  }

  for (const { tone, values } of curves) {
    context.strokeStyle = color(tone)
    context.fillStyle = color(tone)
    context.lineWidth = 1.5
    for (const span of spansOf(values)) {
      const points = span.map((index): [number, number] => [x(times[index] ?? 0), y(values[index] ?? 0)])
      const [first, last] = [points[0], points.at(-1)]
      if (!first || !last) continue
      line(...points)
      context.stroke()
      if (points.length === 1) dot(context, first, 2)
      context.globalAlpha = 0.13
      line([first[0], y(0)], ...points, [last[0], y(0)])
      context.fill()
      context.globalAlpha = 1
    }
  }

  const at = pointed === undefined ? undefined : times[pointed]
  if (pointed === undefined || at === undefined) return
  context.strokeStyle = color('quiet')
  context.lineWidth = 1
  line([x(at), top], [x(at), height - bottom])
  context.stroke()
  for (const { tone, values } of curves) {
    const value = values[pointed]
    context.fillStyle = color(tone)
    if (typeof value === 'number') dot(context, [x(at), y(value)], 3)
  }
}

function dot(context: CanvasRenderingContext2D, [x, y]: [number, number], radius: number): void {
  context.beginPath()
  context.arc(x, y, radius, 0, 2 * Math.PI)
  context.fill()
}

function legendOf({ times, curves }: ChartData, { format }: ChartLook, pointed: number | undefined) {
  const at = pointed === undefined ? undefined : times[pointed]
  const entries = curves.map(({ label, tone, values }) => {
    const entry = document.createElement('span')
    const mark = document.createElement('i')
    mark.style.background = `var(--${tone})`
    const value = pointed === undefined ? undefined : values[pointed]
    entry.append(mark, typeof value === 'number' ? `${label} ${format(value)}` : label)
    return entry
  })
  if (at === undefined) return entries
  const time = document.createElement('span')
  time.textContent =
    times.length > 1 && (times.at(-1) ?? 0) - (times[0] ?? 0) > day ? dayClock.format(at) : clock.format(at)
  return [...entries, time]
}

function nearest(times: readonly number[], offsetX: number, width: number): number {
  const [from, until] = rangeOf(times)
  const at = from + ((until - from) * (offsetX - left)) / (width - left - right)
  let best = 0
  for (const [index, time] of times.entries()) {
    if (Math.abs(time - at) < Math.abs((times[best] ?? 0) - at)) best = index
  }
  return best
}

/** Never empty, so that one point has a place. */
function rangeOf(times: readonly number[]): [from: number, until: number] {
  const from = times[0] ?? 0
  return [from, Math.max(from + second, times.at(-1) ?? 0)]
}

/** The parts of a curve between its gaps, as indexes. */
function spansOf(values: readonly (number | null)[]): number[][] {
  const spans: number[][] = [[]]
  for (const [index, value] of values.entries()) {
    if (value === null) spans.push([])
    else spans.at(-1)?.push(index)
  }
  return spans.filter(({ length }) => length > 0)
}

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000]
const timeSteps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 30, 90].map((count) => count * day),
]
/** Executions are whole numbers. */
const valueSteps = Array.from({ length: 12 }, (_, power) =>
  [1, 2, 5].map((count) => count * 10 ** power),
).flat()

/** Round times of the local clock. */
function ticks(from: number, until: number, step: number): number[] {
  const offset = (at: number) => new Date(at).getTimezoneOffset() * minute
  const found: number[] = []
  for (let local = Math.ceil((from - offset(from)) / step) * step; ; local += step) {
    const at = local + offset(local)
    if (at > until) return found
    if (at >= from) found.push(at)
  }
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const shortClock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const calendar = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const dayClock = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})

function formatTick(at: number, step: number): string {
  const format = step >= day ? calendar : step >= minute ? shortClock : clock
  return format.format(at)
}
