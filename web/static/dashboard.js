// What the pages do beyond links and forms: draw the chart, follow new calls, copy, remember what
// was unfolded. Everything works without it. htmx swaps; nothing here writes HTML.
;(() => {
  const REFRESH_MS = 5000
  const root = document.documentElement
  const find = (selector) => document.querySelector(selector)

  root.dataset.script = ''

  // ---- The chart ----

  /** The colour that the stylesheet gives to a class in the theme of now. */
  function colourOf(className) {
    const probe = document.createElement('span')
    probe.className = `colour-probe ${className}`
    document.body.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return color
  }

  /** A bucket that is still filling is drawn hatched: its height says nothing yet. */
  function hatched(colour) {
    const tile = document.createElement('canvas')
    tile.width = 6
    tile.height = 6
    const pen = tile.getContext('2d')
    pen.strokeStyle = colour
    pen.lineWidth = 1.5
    pen.beginPath()
    pen.moveTo(-1, 7)
    pen.lineTo(7, -1)
    pen.stroke()
    return pen.createPattern(tile, 'repeat')
  }

  function datasetsOf({ series, unfinished }) {
    return series.map(({ family, label, values }) => {
      const colour = colourOf(`family-${family}`)
      const pattern = hatched(colour)
      return {
        label,
        data: values,
        backgroundColor: unfinished.map((isUnfinished) => (isUnfinished ? pattern : colour)),
        barPercentage: 0.92,
        categoryPercentage: 0.94,
      }
    })
  }

  function optionsOf(canvas) {
    const ink = colourOf('quiet')
    const line = colourOf('line-colour')
    const font = { family: getComputedStyle(document.body).fontFamily, size: 12 }
    const ticks = { color: ink, font }
    return {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false },
      layout: { padding: { top: 4 } },
      onClick(_event, [bar]) {
        if (bar) location.assign(canvas.drawn.links[bar.index])
      },
      plugins: {
        legend: { display: false },
        tooltip: {
          filter: ({ raw }) => raw > 0,
          itemSort: (a, b) => b.datasetIndex - a.datasetIndex,
          titleFont: font,
          bodyFont: font,
          cornerRadius: 6,
          boxPadding: 4,
        },
      },
      scales: {
        x: {
          stacked: true,
          grid: { display: false },
          border: { color: line },
          ticks: { ...ticks, maxRotation: 0, autoSkipPadding: 24 },
        },
        y: {
          stacked: true,
          beginAtZero: true,
          grid: { color: line },
          border: { display: false },
          ticks: { ...ticks, precision: 0, maxTicksLimit: 5 },
        },
      },
    }
  }

  function drawChart(canvas, isRedraw) {
    const text = document.getElementById(canvas.dataset.chart)?.textContent
    if (!text || (!isRedraw && canvas.drawnText === text)) return
    canvas.drawnText = text
    canvas.drawn = JSON.parse(text)
    canvas.hidden = false
    const data = { labels: canvas.drawn.labels, datasets: datasetsOf(canvas.drawn) }
    const chart = Chart.getChart(canvas)
    if (chart) {
      chart.data = data
      chart.options = optionsOf(canvas)
      chart.update('none')
    } else {
      new Chart(canvas, { type: 'bar', data, options: optionsOf(canvas) })
    }
  }

  function drawCharts(isRedraw = false) {
    if (!window.Chart) return
    for (const chart of Object.values(Chart.instances)) {
      if (!chart.canvas?.isConnected) chart.destroy()
    }
    for (const canvas of document.querySelectorAll('canvas[data-chart]')) {
      drawChart(canvas, isRedraw)
    }
  }

  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawCharts(true))

  // ---- Following new calls ----

  let paused = false
  let staleSince

  function showLiveState() {
    const status = find('#live-status')
    if (!status) return
    status.classList.toggle('paused', paused)
    status.classList.toggle('stale', staleSince !== undefined && !paused)
    find('#live-words').textContent = paused ? 'Paused' : (staleSince ?? 'Live')
    const button = find('#live-toggle')
    button.textContent = paused ? 'Resume' : 'Pause'
    button.setAttribute('aria-pressed', String(paused))
  }

  function refresh() {
    if (!paused && !document.hidden && find('#live')) htmx.trigger('#live', 'refresh')
  }

  function noteOutcome({ detail }) {
    const { sourceElement, response } = detail?.ctx ?? {}
    if (sourceElement?.id !== 'live') return
    const failed = !response || response.status >= 400
    if (failed) staleSince ??= `Stale since ${new Date().toLocaleTimeString('en-GB')}`
    else staleSince = undefined
    showLiveState()
  }

  setInterval(refresh, REFRESH_MS)
  document.addEventListener('visibilitychange', refresh)
  document.addEventListener('htmx:finally:request', noteOutcome)

  // ---- Buttons ----

  function say(words) {
    find('#said').textContent = words
  }

  async function textToCopy(from) {
    if (!from.startsWith('/')) return find(from).textContent
    const response = await fetch(from)
    if (!response.ok) throw new Error(`${from} answered ${response.status}`)
    return response.text()
  }

  async function copy(button) {
    try {
      await navigator.clipboard.writeText(await textToCopy(button.dataset.from))
      say('Copied')
      button.textContent = 'Copied'
    } catch (error) {
      say(`Copying failed: ${error.message}`)
      button.textContent = 'Not copied'
    }
  }

  document.addEventListener('click', ({ target }) => {
    const button = target.closest?.('[data-action]')
    if (button?.dataset.action === 'copy') void copy(button)
    if (button?.dataset.action === 'toggle-live') {
      paused = !paused
      showLiveState()
      refresh()
    }
  })

  // ---- What swaps must not lose ----

  const unfolded = new Map()

  document.addEventListener(
    'toggle',
    ({ target }) => {
      if (target.id) unfolded.set(target.id, target.open)
    },
    true,
  )

  function restoreUnfolded() {
    for (const details of document.querySelectorAll('details[id]')) {
      const open = unfolded.get(details.id)
      if (open !== undefined) details.open = open
    }
  }

  /** The server cannot know the zone of whoever looks. */
  function offerOwnZone() {
    const select = find('#when-tz')
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
    if (!select || [...select.options].some(({ text }) => text === timeZone)) return
    select.add(new Option(`${timeZone} (this browser)`, timeZone), 1)
  }

  let focusWasInside = false

  document.addEventListener('htmx:before:swap', () => {
    focusWasInside = find('#view').contains(document.activeElement)
  })

  document.addEventListener('htmx:after:swap', ({ detail }) => {
    restoreUnfolded()
    offerOwnZone()
    drawCharts()
    showLiveState()
    const view = find('#view')
    if (detail?.ctx?.target !== view) return
    if (focusWasInside && !view.contains(document.activeElement))
      view.focus({ preventScroll: true })
    const words = find('[data-say]')?.dataset.say
    if (words) say(words)
  })

  window.addEventListener('beforeprint', () => {
    for (const details of document.querySelectorAll('details.numbers, details.stack')) {
      details.open = true
    }
  })

  function start() {
    // On a narrow screen the list is what one came for; the filters wait folded.
    const filters = find('.with-sidebar .filters')
    if (filters && matchMedia('(max-width: 860px)').matches) filters.open = false
    restoreUnfolded()
    offerOwnZone()
    drawCharts()
    showLiveState()
  }

  start()
})()
