/**
 * The one style sheet of HTML reports. Sizes are one scale, 1.2 to the step: 0.833, 1, 1.2, 1.44, 2.074 rem. Series colours
 * are Okabe and Ito's, darkened on white and lightened on black to at least 3:1; text has at least 4.5:1. Paper is white
 * whatever the screen prefers.
 */
export const STYLE = `
:root {
  color-scheme: light;
  --paper: #fff; --ink: #1a2026; --muted: #55606b; --rule: #cfd5da; --grid: #e4e8eb; --tint: #f3f5f7; --focus: #0072b2; --shade: #0003;
  --s1: #0072b2; --s2: #c65200; --s3: #007f5c; --s4: #a34f83; --s5: #946200; --s6: #68737d;
  --good: #0b5c3b; --good-tint: #dcf3e7; --unsure: #6a4a00; --unsure-tint: #fcefcf; --bad: #8c1d04; --bad-tint: #fde4dc;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    color-scheme: dark;
    --paper: #12171c; --ink: #e9edf0; --muted: #a9b4be; --rule: #3a444d; --grid: #2a323a; --tint: #1b2229; --focus: #56b4e9; --shade: #000c;
    --s1: #56b4e9; --s2: #ff8f45; --s3: #2fc79a; --s4: #e39ac6; --s5: #f0c541; --s6: #98a3ad;
    --good: #8fe3bd; --good-tint: #123a2a; --unsure: #f2d389; --unsure-tint: #40320f; --bad: #ffb8a3; --bad-tint: #4d1e12;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
header, main, footer { max-width: 78rem; margin: 0 auto; padding: 0 1rem; }
@media (min-width: 37.5em) { header, main, footer { padding: 0 2rem; } }
header { padding-top: 2rem; }
footer { padding-top: 1rem; padding-bottom: 2rem; color: var(--muted); font-size: 0.833rem; }
h1, h2, h3 { line-height: 1.25; margin: 0; text-wrap: balance; }
h1 { font-size: 2.074rem; font-weight: 650; }
h2 { font-size: 1.44rem; font-weight: 650; margin-bottom: 1rem; }
h3 { font-size: 1.2rem; font-weight: 600; margin-bottom: 0.25rem; }
@media (max-width: 37.49em) { h1 { font-size: 1.44rem; } h2 { font-size: 1.2rem; } h3 { font-size: 1rem; } }
p { margin: 0 0 0.5rem; max-width: 46rem; text-wrap: pretty; }
.hint { font-size: 0.833rem; margin-bottom: 1rem; }
section > :last-child, .plain > :last-child { margin-bottom: 0; }
section { padding: 1.5rem 0; border-top: 1px solid var(--rule); margin-top: 1.5rem; }
.muted, figcaption p, .caption { color: var(--muted); }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
code, pre { font-family: ui-monospace, "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.9em; }
pre { margin: 0 0 1rem; padding: 0.75rem 1rem; background: var(--tint); white-space: pre-wrap; border-radius: 0.4rem; }

.answer { font-size: 1.44rem; line-height: 1.35; margin-bottom: 1rem; max-width: 66rem; }
.badge { display: inline-block; padding: 0 0.6em; border-radius: 1em; font-weight: 650; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.badge.good { color: var(--good); background: var(--good-tint); }
.badge.unsure { color: var(--unsure); background: var(--unsure-tint); }
.badge.bad { color: var(--bad); background: var(--bad-tint); }
.badge.neutral { color: var(--ink); background: var(--tint); }
ul.plain, ul.legend { list-style: none; margin: 0; padding: 0; }
ul.plain > li { margin-bottom: 0.75rem; max-width: 46rem; }
ul.plain p { margin: 0.15rem 0 0; }
ul.plain + * { margin-top: 1rem; }

dl { margin: 0; }
dd { margin: 0; }
.facts { margin-bottom: 1rem; }
.facts > div { display: grid; grid-template-columns: minmax(6rem, 14rem) 1fr; gap: 0 1rem; padding: 0.25rem 0; border-bottom: 1px solid var(--grid); max-width: 60rem; }
.facts dt { color: var(--muted); }
@media (max-width: 37.49em) { .facts > div { grid-template-columns: 1fr; } }
.tiles { display: grid; grid-template-columns: repeat(2, 1fr); gap: 1rem; margin-bottom: 1.5rem; }
@media (min-width: 37.5em) { .tiles { grid-template-columns: repeat(3, 1fr); } }
@media (min-width: 64em) { .tiles { grid-template-columns: repeat(6, 1fr); } }
.tiles > div { border-left: 3px solid var(--rule); padding-left: 0.75rem; }
.tiles dt { color: var(--muted); font-size: 0.833rem; }
.tiles dd { font-size: 1.44rem; line-height: 1.3; overflow-wrap: normal; }
.tiles small { display: block; font-size: 0.833rem; color: var(--muted); }

.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 0 2rem; }
.columns > * { min-width: 0; }
.table { margin: 0 0 1rem; }
.caption { font-size: 0.833rem; margin-bottom: 0.35rem; }
.scroll {
  overflow-x: auto; background:
    linear-gradient(to right, var(--paper) 1.5rem, transparent 3rem) left / 3rem 100%,
    linear-gradient(to left, var(--paper) 1.5rem, transparent 3rem) right / 3rem 100%,
    linear-gradient(to right, var(--shade), transparent) left / 1rem 100%,
    linear-gradient(to left, var(--shade), transparent) right / 1rem 100%;
  background-attachment: local, local, scroll, scroll; background-repeat: no-repeat;
}
table { border-collapse: collapse; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 1.25rem 0.3rem 0; border-bottom: 1px solid var(--grid); }
th:last-child, td:last-child { padding-right: 0.25rem; }
thead th { font-size: 0.833rem; color: var(--muted); font-weight: 600; border-bottom-color: var(--rule); vertical-align: bottom; }
tbody th { font-weight: 500; }
tbody th, td:not(.number) { overflow-wrap: break-word; max-width: 24rem; }
tbody th:not(.long) { white-space: nowrap; }
th.long, td.long { min-width: min(12rem, 40vw); }
td:has(.badge) { white-space: nowrap; }
th.number, td.number { text-align: right; white-space: nowrap; }
thead th.number { white-space: normal; }
thead th { max-width: 14rem; overflow-wrap: break-word; }
@media (max-width: 59.99em) {
  table { font-size: 0.833rem; }
  th, td { padding-right: 0.75rem; }
  tbody th, td:not(.number) { max-width: min(14rem, 45vw); }
}
details { margin-top: 0.5rem; }
.pair + .pair { margin-top: 1.5rem; }
summary { cursor: pointer; color: var(--muted); font-size: 0.833rem; padding: 0.25rem 0; }
details .scroll { max-height: 24rem; overflow-y: auto; }
details .table { margin-top: 0.5rem; }

.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 34rem), 1fr)); gap: 2.5rem 2rem; }
.charts > * { min-width: 0; }
figure { margin: 0 0 1rem; }
figcaption p { font-size: 0.833rem; }
.plot { position: relative; touch-action: pan-y; border-radius: 0.3rem; margin-top: 0.5rem; }
.plot:focus-within { outline: 3px solid var(--focus); outline-offset: 2px; }
.scrub { position: absolute; left: 0; bottom: 0; width: 100%; height: 1px; margin: 0; opacity: 0; pointer-events: none; }
.chart { width: 100%; height: auto; max-width: 45rem; font-family: inherit; }
.chart.wide { display: block; }
.chart.narrow { display: none; max-width: 28rem; }
@media (max-width: 37.49em) { .chart.wide { display: none; } .chart.narrow { display: block; } }
.chart text { fill: var(--muted); }
.chart .halo { stroke: var(--paper); stroke-width: 4; stroke-linejoin: round; paint-order: stroke; }
.grid { stroke: var(--grid); }
.axis { stroke: var(--muted); }
.after { fill: var(--tint); }
.stage { stroke: var(--muted); stroke-dasharray: 1 3; }
.cursor { stroke: var(--ink); visibility: hidden; }
.cursor.on { visibility: visible; }
.s1 { --c: var(--s1); } .s2 { --c: var(--s2); } .s3 { --c: var(--s3); } .s4 { --c: var(--s4); } .s5 { --c: var(--s5); } .s6 { --c: var(--s6); }
.line { fill: none; stroke: var(--c); stroke-width: 2; stroke-linejoin: round; }
.line.s2 { stroke-dasharray: 7 3; } .line.s3 { stroke-dasharray: 3 2; } .line.s4 { stroke-dasharray: 10 3 2 3; }
.line.s5 { stroke-dasharray: 2 4; } .line.s6 { stroke-dasharray: 5 5; stroke-width: 1.5; }
.line.headline { stroke-dasharray: 9 3; stroke-width: 2.5; }
.line.behind { stroke-width: 1.5; }
.line.under { stroke-width: 2.5; }
.line.over { stroke-dasharray: 6 5; stroke-width: 2; }
.line.track { stroke-dasharray: none; stroke-width: 6; stroke-opacity: 0.45; }
.line.limit { stroke-dasharray: 2 3; stroke-width: 1.5; }
.line.dense { stroke-dasharray: none; stroke-width: 1.5; }
.area { fill: var(--c); fill-opacity: 0.2; stroke: var(--c); stroke-opacity: 0.4; stroke-width: 0.75; }
.fill, .dot { fill: var(--c); print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.dot.track { fill-opacity: 0.45; }
.between { fill: var(--s2); fill-opacity: 0.12; }
.box { fill: var(--c); fill-opacity: 0.16; stroke: var(--c); }
.whisker { stroke: var(--c); }
.median { stroke: var(--c); stroke-width: 3; }
.dot.run { fill-opacity: 0.55; }
.dot.run.on { fill-opacity: 1; stroke: var(--ink); stroke-width: 2; }
.swatch { vertical-align: middle; flex: none; }
ul.legend { display: flex; flex-wrap: wrap; gap: 0.15rem 1.25rem; font-size: 0.833rem; }
ul.legend > li { min-width: 0; }
.legend .value { font-weight: 650; }
@media (min-width: 37.5em) { .live .legend .value { display: inline-block; min-width: 5em; } }
.at { font-size: 0.833rem; color: var(--muted); min-height: 1.5em; margin: 0.25rem 0 0; }

@page { margin: 14mm; }
@media print {
  body { font-size: 10pt; }
  .at, .hint, .scrub, details:not([open]) { display: none; }
  table { font-size: 8pt; }
  th, td { padding-right: 0.5rem; }
  tbody th, td:not(.number) { min-width: 0; max-width: 14rem; }
  section { margin-top: 0.75rem; padding: 0.75rem 0; }
  h2, h3 { break-after: avoid; }
  figure, tr, li, .tiles > div { break-inside: avoid; }
  .scroll, details .scroll { overflow: visible; max-height: none; background: none; }
}
`;
