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

/** One number of the fleet, with a link to the counted items. */
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
