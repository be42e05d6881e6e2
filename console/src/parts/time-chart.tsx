// A chart of time series. What draws it is loaded with the first one.

import { useEffect, useRef } from 'preact/hooks'
import { isDark } from '../theme.ts'
import type { ChartData, Curve, TimeChartPlot } from './draw-time-chart.ts'
import { formatCount } from './exec-state.ts'

type Props = {
  /** Describes the chart. */
  label: string
  /** Milliseconds since 1970, ascending. */
  times: number[]
  curves: Curve[]
  height?: number
  /** Formats a value; default: a count. */
  format?: (value: number) => string
  /** The maximum of the axis, if known. */
  most?: number
}

export function TimeChart({ label, times, curves, height = 180, format = formatCount, most }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<TimeChartPlot>(undefined)
  const data = useRef<ChartData>({ times, curves })
  data.current = { times, curves }
  const dark = isDark.value
  const shape = curves.map((curve) => `${curve.label} ${curve.tone}`).join()
  useEffect(() => {
    let isGone = false
    void import('./draw-time-chart.ts').then(({ drawTimeChart }) => {
      if (!isGone && box.current)
        plot.current = drawTimeChart(box.current, data.current, { height, format, most })
    })
    return () => {
      isGone = true
      plot.current?.close()
      plot.current = undefined
    }
  }, [shape, height, dark]) // colours are read when the chart is drawn
  useEffect(() => plot.current?.setData({ times, curves }), [times, curves])
  return (
    <div class="time-chart" ref={box} role="img" aria-label={label} style={{ minHeight: `${height}px` }} />
  )
}
