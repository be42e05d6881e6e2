// Icons as paths of a 16-pixel square, drawn in the colour of the text.

const paths = {
  fleet: 'M2.500 2.500h4v4h-4zM9.500 2.500h4v4h-4zM2.500 9.500h4v4h-4zM9.500 9.500h4v4h-4z',
  trigger: 'M9 1.500 3.500 9H8l-1 5.500L12.500 7H8z',
  runs: 'M2.500 4h11M2.500 8h8M2.500 12h5',
  executions: 'M2.500 3.500h2v2h-2zM2.500 10.500h2v2h-2zM7 4.500h6.500M7 11.500h6.500',
  stats: 'M2.500 2.500v11h11M5 10.500l2.500-3.500 2.500 2 3.500-5',
  devices: 'M2 3.500h12v7H2zM5.500 13.500h5M8 10.500v3',
  groups:
    'M6 3a3.500 3.500 0 1 1 0 7 3.500 3.500 0 0 1 0-7zM10 6a3.500 3.500 0 1 1 0 7 3.500 3.500 0 0 1 0-7z',
  jobs: 'M4 1.500h5.500L13 5v9.500H4zM9.500 1.500V5H13M6.500 8.500h4M6.500 11h4',
  calendar: 'M2.500 3.500h11v10h-11zM2.500 6.500h11M5.500 1.500v3M10.500 1.500v3',
  schedules: 'M8 4.500V8h3M8 2a6 6 0 1 1-5.200 3M2.500 2v3h3',
  windows: 'M2.500 2.500h11v11h-11zM8 2.500v11M2.500 8h11',
  webhooks:
    'M8 5.500 5.500 10M8 5.500a2 2 0 1 0-1.500-.5M5.500 10.500H11M11 8.500a2 2 0 1 1-.5 4M4.500 8.500a2 2 0 1 0 1 3.500',
  enrollments:
    'M6.500 7.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM2 13.500c.3-2.600 2-4 4.500-4s4.200 1.400 4.500 4M12.500 5v4M10.500 7h4',
  keys: 'M10 6a3 3 0 1 1-.9-2.100A3 3 0 0 1 10 6zM9.300 8 14 12.500M12 10.700l-1.300 1.300',
  waiting: 'M8 3.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9z',
  running: 'M5.500 3.500v9l7-4.500z',
  good: 'm3.500 8.500 3 3 6-7',
  bad: 'm4 4 8 8M12 4l-8 8',
  late: 'M8 4.500V8l2.500 2M8 2.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11z',
  refused: 'M8 2.500a5.500 5.500 0 1 1 0 11 5.500 5.500 0 0 1 0-11zM4.200 4.200l7.600 7.600',
  off: 'M3.500 8h9',
  copy: 'M5.500 5.500v-3h8v8h-3M2.500 5.500h8v8h-8z',
  sun: 'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3a5.500 5.500 0 1 0 6.500 6.500z',
  system: 'M2 3h12v8H2zM6 13.500h4',
  out: 'M6.500 2.500h-4v11h4M6.500 8h7M11 5.500 13.500 8 11 10.500',
  up: 'm4 10 4-4 4 4',
  down: 'm4 6 4 4 4-4',
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'm4 4 8 8M12 4l-8 8',
  search: 'M7 2.500a4.500 4.500 0 1 1 0 9 4.500 4.500 0 0 1 0-9zM10.500 10.500l3 3',
  warning: 'M8 2 14.500 13.500h-13zM8 6.500v3.200M8 11.300v.4',
  keyboard: 'M1.500 4h13v8h-13zM4 6.500h.5M6.500 6.500H7M9 6.500h.5M11.500 6.500h.5M4.500 9.500h7',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
