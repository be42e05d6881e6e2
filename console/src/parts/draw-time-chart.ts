import 'uplot/dist/uPlot.min.css'
import UPlot from 'uplot'
import type { Tone } from './exec-state.ts'

export type Curve = { label: string; tone: Tone; values: (number | null)[] }
export type ChartData = { times: number[]; curves: Curve[] }
export type TimeChartPlot = { setData: (data: ChartData) => void; close: () => void }

export type ChartLook = { height: number; format: (value: number) => string; most: number | undefined }

export function drawTimeChart(box: HTMLElement, data: ChartData, look: ChartLook): TimeChartPlot {
  const { height, format, most } = look
  const style = getComputedStyle(document.documentElement)
  const read = (name: string) => style.getPropertyValue(name).trim()
  const axis = { stroke: read('--quiet'), grid: { stroke: read('--line'), width: 1 }, ticks: { show: false } }
  const plot = new UPlot(
    {
      width: box.clientWidth,
      height,
      series: [
        { label: '', value: (_, seconds) => (seconds === null ? '' : formatTick(seconds, 0)) },
        ...data.curves.map(({ label, tone }) => ({
          label,
          stroke: read(`--${tone}`),
          fill: `${read(`--${tone}`)}22`,
          width: 1.5,
          // A value between two gaps has no line, so it needs a point.
          points: { show: hasGaps(data), size: 4 },
          spanGaps: false,
          value: (_: UPlot, count: number | null) => (count === null ? '' : format(count)),
        })),
      ],
      axes: [
        { ...axis, size: 30, incrs: steps, space: 90, values: formatTicks },
        { ...axis, size: 56, incrs: wholeSteps, values: (_, values) => values.map(format) },
      ],
      scales: { y: { range: (_, __, max) => [0, most ?? Math.max(1, max * 1.05)] } },
      cursor: { points: { size: 6 } },
    },
    toPlot(data),
    box,
  )
  const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }))
  observer.observe(box)
  return {
    setData: (next) => plot.setData(toPlot(next)),
    close() {
      observer.disconnect()
      plot.destroy()
    },
  }
}

const [minute, hour, day] = [60, 60 * 60, 24 * 60 * 60]
const steps = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 30].map((count) => count * day),
]
/** Executions are whole numbers. */
const wholeSteps = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((count) => count * 10 ** power),
).flat()

function hasGaps({ curves }: ChartData): boolean {
  return curves.some(({ values }) => values.includes(null))
}

function formatTicks(_: UPlot, positions: number[], __: number, ___: number, step: number): string[] {
  return positions.map((seconds) => formatTick(seconds, step))
}

const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
const shortClock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const calendar = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })

function formatTick(seconds: number, step: number): string {
  const format = step >= day ? calendar : step >= minute ? shortClock : clock
  return format.format(seconds * 1000)
}

function toPlot({ times, curves }: ChartData): UPlot.AlignedData {
  return [times.map((ms) => ms / 1000), ...curves.map(({ values }) => values)]
}
