// Curves over time, by uPlot, which is loaded when the first one is drawn.

import { useEffect, useRef } from 'preact/hooks'
import { isDark } from '../theme.ts'
import type { Tone } from './exec-state.ts'

export type Curve = { label: string; tone: Tone; values: (number | null)[] }

type Props = {
  /** What it shows, in words. */
  label: string
  /** Milliseconds since 1970, growing. */
  times: number[]
  curves: Curve[]
  height?: number
}

export function TimeChart({ label, times, curves, height = 180 }: Props) {
  const box = useRef<HTMLDivElement>(null)
  const dark = isDark.value
  useEffect(() => {
    let close: (() => void) | undefined
    let isGone = false
    void import('./draw-time-chart.ts').then(({ drawTimeChart }) => {
      if (!isGone && box.current) close = drawTimeChart(box.current, { times, curves, height })
    })
    return () => {
      isGone = true
      close?.()
    }
  }, [times, curves, height, dark]) // colours are read when it is drawn
  return (
    <div class="time-chart" ref={box} role="img" aria-label={label} style={{ minHeight: `${height}px` }} />
  )
}
