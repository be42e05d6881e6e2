// A small chart without axes, for the shape of a day. The numbers are next to it.

import type { Tone } from './exec-state.ts'

type Props = { values: number[]; tone: Tone; label: string; kind?: 'line' | 'bars' }

const width = 120
const height = 32

export function Sparkline({ values, tone, label, kind = 'line' }: Props) {
  const most = Math.max(1, ...values)
  return (
    <svg
      class={`sparkline tone-${values.some((value) => value > 0) ? tone : 'none'}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {kind === 'line' ? <Line values={values} most={most} /> : <Bars values={values} most={most} />}
    </svg>
  )
}

type Drawn = { values: number[]; most: number }

function Line({ values, most }: Drawn) {
  const step = width / Math.max(1, values.length - 1)
  const points = values.map((value, index) => `${round(index * step)},${round(yOf(value, most))}`)
  return (
    <>
      <polygon class="area" points={`0,${height} ${points.join(' ')} ${width},${height}`} />
      <polyline points={points.join(' ')} />
    </>
  )
}

function Bars({ values, most }: Drawn) {
  const step = width / values.length
  return (
    <>
      {values.map((value, index) => {
        const top = value === 0 ? height - 1 : yOf(value, most)
        return (
          <rect
            // Bars are identified by their index.
            key={index}
            class={value === 0 ? 'none' : ''}
            x={round(index * step)}
            y={round(top)}
            width={round(Math.max(1, step - 1))}
            height={round(height - top)}
          />
        )
      })}
    </>
  )
}

function yOf(value: number, most: number): number {
  return height - 1.5 - (value / most) * (height - 3)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
