import 'uplot/dist/uPlot.min.css'
import UPlot from 'uplot'
import type { Curve } from './time-chart.tsx'

type Chart = { times: number[]; curves: Curve[]; height: number }

/** Gives back how to take it away. */
export function drawTimeChart(box: HTMLElement, { times, curves, height }: Chart): () => void {
  const style = getComputedStyle(document.documentElement)
  const read = (name: string) => style.getPropertyValue(name).trim()
  const axis = { stroke: read('--quiet'), grid: { stroke: read('--line'), width: 1 }, ticks: { show: false } }
  const plot = new UPlot(
    {
      width: box.clientWidth,
      height,
      series: [
        {},
        ...curves.map(({ label, tone }) => ({
          label,
          stroke: read(`--${tone}`),
          fill: `${read(`--${tone}`)}22`,
          width: 1.5,
          points: { show: false },
        })),
      ],
      axes: [axis, { ...axis, size: 48 }],
      cursor: { points: { size: 6 } },
    },
    [times.map((ms) => ms / 1000), ...curves.map(({ values }) => values)],
    box,
  )
  const observer = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }))
  observer.observe(box)
  return () => {
    observer.disconnect()
    plot.destroy()
  }
}
