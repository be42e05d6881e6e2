import type { ComponentChildren } from 'preact'
import { formatCount } from '../../parts/exec-state.ts'

type FigureProps = {
  title: string
  value: number
  href: string
  isBad?: boolean
  about?: ComponentChildren
  children?: ComponentChildren
}

/** One number of the fleet, which leads to the list of what it counts. */
export function Figure({ title, value, href, isBad, about, children }: FigureProps) {
  return (
    <div class="figure">
      <h2>
        <a href={href}>{title}</a>
      </h2>
      <p class={`number ${isBad ? 'bad' : ''}`}>{formatCount(value)}</p>
      <p class="quiet about">{about}</p>
      {children}
    </div>
  )
}
