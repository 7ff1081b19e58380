// What is wrong with the page as it is shown: by rule, a sentence for each fault.
((width, print) => {
  const SVG = "http://www.w3.org/2000/svg";
  const faults = {};
  const fault = (rule, text) => {
    const list = (faults[rule] ??= []);
    if (list.length < 20) list.push(text);
  };
  const short = (text) => JSON.stringify(text.trim().replace(/\s+/g, " ").slice(0, 60));
  const number = (value) => Math.round(value * 10) / 10;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const root = document.documentElement;
  const isPicture = root.namespaceURI === SVG;
  all("details").forEach((details) => (details.open = true));

  const ancestors = (element) => {
    const list = [];
    for (let at = element; at; at = at.parentElement) list.push(at);
    return list;
  };
  const style = (element) => getComputedStyle(element);
  // For screen readers only.
  const isTiny = (element) =>
    element.namespaceURI !== SVG && element.clientWidth <= 1 && style(element).overflow !== "visible";
  const isShown = (element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !ancestors(element).some(isTiny);
  // Where letters are drawn that are stretched or pressed to a length: a range does not know of it.
  const boxOf = (text) => {
    const { x, y, width, height } = text.getBBox();
    const [start, end] = [[x, y], [x + width, y + height]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(text.getScreenCTM()));
    return new DOMRect(start.x, start.y, end.x - start.x, end.y - start.y);
  };
  const rectsOf = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const drawn = [...range.getClientRects()].filter((rect) => rect.width > 0.5 && rect.height > 0.5);
    const held = node.parentElement.closest?.("text[textLength]");
    return held && drawn.length ? [boxOf(held)] : drawn;
  };

  // Every text that is seen, with where it is.
  const texts = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.data.trim() || !isShown(element)) continue;
    const rects = rectsOf(node);
    if (rects.length) texts.push({ text: node.data, element, rects });
  }
  const outermost = (element) => ancestors(element).filter((at) => at.localName === "svg").pop();
  const pictures = all("svg").filter((svg) => svg === outermost(svg) && isShown(svg));
  const ofPicture = new Map(pictures.map((svg) => [svg, []]));
  texts.forEach((text) => ofPicture.get(outermost(text.element))?.push(text));

  // The picture: texts beside each other, and inside.
  for (const [svg, list] of ofPicture) {
    const box = svg.getBoundingClientRect();
    const placed = list.flatMap(({ text, rects }) => rects.map((rect) => ({ text, rect })));
    placed.sort((one, other) => one.rect.top - other.rect.top);
    placed.forEach(({ text, rect }, at) => {
      const out = Math.max(box.left - rect.left, rect.right - box.right, box.top - rect.top, rect.bottom - box.bottom);
      if (out > 0.5) fault("outside", `${short(text)} leaves its picture by ${number(out)} pixels`);
      for (let next = at + 1; next < placed.length && placed[next].rect.top < rect.bottom - 1; next++) {
        const other = placed[next];
        const across = Math.min(rect.right, other.rect.right) - Math.max(rect.left, other.rect.left);
        const down = Math.min(rect.bottom, other.rect.bottom) - Math.max(rect.top, other.rect.top);
        if (across > 1 && down > 1)
          fault("overlap", `${short(text)} and ${short(other.text)} overlap by ${number(across)} x ${number(down)}`);
      }
    });
    const title = svg.querySelector("title");
    const names = (svg.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter(Boolean);
    const said = [svg.getAttribute("aria-label"), ...names.map((id) => document.getElementById(id)?.textContent), title?.textContent];
    const isDecoration = svg.getAttribute("aria-hidden") === "true" && list.length === 0;
    if (!isDecoration && !said.some((words) => words?.trim().length > 10))
      fault("silent", `a picture with ${list.length} texts says nothing to who does not see it`);
  }

  // Sizes.
  const scale = (element) => {
    const matrix = element.namespaceURI === SVG ? element.closest("text")?.getScreenCTM() : null;
    return matrix ? Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c)) : 1;
  };
  for (const { text, element } of texts) {
    const size = parseFloat(style(element).fontSize) * scale(element);
    if (size < 10.95) fault("small", `${short(text)} has ${number(size)} pixels`);
  }

  // Colours, as [red, green, blue, opacity].
  const pen = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const colour = (css) => {
    if (!known.has(css)) {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = "#000";
      pen.fillStyle = css;
      pen.fillRect(0, 0, 1, 1);
      const [red, green, blue, opacity] = pen.getImageData(0, 0, 1, 1).data;
      known.set(css, [red, green, blue, opacity / 255]);
    }
    return known.get(css);
  };
  const over = (above, below) => below.map((part, at) => (at < 3 ? above[at] * above[3] + part * (1 - above[3]) : 1));
  const faded = ([red, green, blue, opacity], by) => [red, green, blue, opacity * by];
  const luminance = (rgb) => {
    const linear = rgb.slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const paper = () => {
    if (isPicture) return [255, 255, 255, 1];
    const probe = document.createElement("i");
    probe.style.color = "Canvas";
    root.append(probe);
    const found = colour(style(probe).color);
    probe.remove();
    return found;
  };
  const canvas = paper();
  const opacity = (element) => ancestors(element).reduce((product, at) => product * parseFloat(style(at).opacity), 1);
  const isDrawn = (shape) => style(shape).fill !== "none" && !shape.closest("defs, clipPath, mask");
  const shapeOf = (shape) => ({
    shape,
    box: shape.getBoundingClientRect(),
    fill: faded(colour(style(shape).fill), parseFloat(style(shape).fillOpacity) * opacity(shape)),
  });
  const shapesOf = (svg) => [...svg.querySelectorAll("rect, circle, ellipse, path, polygon")].filter(isDrawn).map(shapeOf);
  // By the stripes of the page that they touch, since a large picture has thousands.
  const STRIPE = 50;
  const stripe = (y) => Math.floor(y / STRIPE);
  const shapes = new Map(pictures.map((svg) => [svg, new Map()]));
  for (const [svg, stripes] of shapes) {
    for (const shape of shapesOf(svg))
      for (let at = stripe(shape.box.top); at <= stripe(shape.box.bottom); at++)
        stripes.set(at, [...(stripes.get(at) ?? []), shape]);
  }
  const isAt = ({ shape, box }, x, y) => {
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) return false;
    const matrix = shape.getScreenCTM();
    return matrix !== null && shape.isPointInFill(new DOMPoint(x, y).matrixTransform(matrix.inverse()));
  };
  const backgrounds = (element, y) => {
    const svg = outermost(element);
    const boxes = ancestors(svg ?? element).reverse().map((at) => colour(style(at).backgroundColor));
    const isBelow = ({ shape }) => shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
    const below = (shapes.get(svg)?.get(stripe(y)) ?? []).filter(isBelow);
    return (x) => {
      const filled = below.filter((shape) => isAt(shape, x, y)).map(({ fill }) => fill);
      return [...boxes, ...filled].reduce((under, layer) => over(layer, under), canvas);
    };
  };
  const ink = (element) => {
    const { color, fill, fillOpacity } = style(element);
    const inPicture = element.namespaceURI === SVG;
    return faded(colour(inPicture ? fill : color), opacity(element) * (inPicture ? parseFloat(fillOpacity) : 1));
  };
  for (const { text, element, rects } of texts) {
    const { left, right, top, bottom } = rects[0];
    const ends = element.namespaceURI === SVG ? [left + 1, (left + right) / 2, right - 1] : [(left + right) / 2];
    const [background, letters] = [backgrounds(element, (top + bottom) / 2), ink(element)];
    for (const x of ends) {
      const under = background(x);
      const ratio = contrast(over(letters, under), under);
      if (ratio < 4.5) {
        fault("contrast", `${short(text)} has a contrast of ${number(ratio)} on rgb(${under.slice(0, 3).map(Math.round)})`);
        break;
      }
    }
  }

  // Boxes: of the page, and of what is in it.
  const isScroller = (element) => ["auto", "scroll"].includes(style(element).overflowX);
  const isBox = (element) => !/^(inline|contents|ruby)/.test(style(element).display) || style(element).display === "inline-block";
  if (!isPicture && root.clientWidth !== width) fault("sideways", `the page is laid out for ${root.clientWidth} pixels, and ${width} are there`);
  if (!isPicture && root.scrollWidth > width) fault("sideways", `the page has ${root.scrollWidth} pixels`);
  for (const { text, element, rects } of texts.filter(({ element }) => !outermost(element))) {
    const chain = ancestors(element);
    const box = chain.find(isBox) ?? root;
    const { left, right } = box.getBoundingClientRect();
    const out = Math.max(...rects.map((rect) => Math.max(left - rect.left, rect.right - right)));
    if (out > 1 && !isScroller(box)) fault("box", `${short(text)} leaves its ${box.localName} by ${number(out)} pixels`);
    const end = Math.max(...rects.map((rect) => Math.max(-rect.left, rect.right - width)));
    if (end > 1 && !chain.slice(0, -2).some(isScroller)) fault("box", `${short(text)} leaves the page by ${number(end)} pixels`);
  }
  const hides = (element) => {
    const { overflowX } = style(element);
    const scrolls = isScroller(element) && !print;
    return overflowX !== "visible" && !scrolls && element.scrollWidth > element.clientWidth + 1;
  };
  for (const element of all("body *").filter((at) => at.namespaceURI !== SVG && at.clientWidth > 1 && hides(at) && isShown(at)))
    fault(print ? "cut" : "box", `${element.localName} hides ${element.scrollWidth - element.clientWidth} pixels: ${short(element.textContent)}`);

  // Paper does not scroll, and what is higher than a sheet is cut.
  if (print) {
    if (root.scrollWidth > width) fault("cut", `the page has ${root.scrollWidth} pixels, and the paper ${width}`);
    for (const svg of pictures) {
      const box = svg.getBoundingClientRect();
      if (box.right > width + 1 || box.height > 1000) fault("cut", `a picture of ${number(box.width)} x ${number(box.height)} pixels`);
      const figure = svg.closest("figure");
      if (figure && !style(figure).breakInside.startsWith("avoid")) fault("cut", "a sheet may end between a picture and its title");
    }
  }

  // Whatever came from outside is text.
  if (window.broken !== undefined) fault("executed", `a text was executed: ${window.broken}`);
  for (const element of all("*")) {
    const names = element.getAttributeNames().filter((name) => name.startsWith("on"));
    if (names.length) fault("executed", `${element.localName} has ${names}`);
    if (["img", "iframe", "object", "embed", "base", "form", "foreignObject"].includes(element.localName)) fault("executed", `there is ${element.localName}`);
    if (/^\s*(javascript|vbscript):/i.test(element.getAttribute("href") ?? "")) fault("executed", `a link is a script: ${element.getAttribute("href").slice(0, 60)}`);
  }
  // A block ends what turns, but the words beside the text in it are turned too.
  const isolates = (element) => style(element).unicodeBidi.startsWith("isolate") && style(element).display.startsWith("inline");
  const isIsolated = (element) => ancestors(element).some(isolates);
  for (const { text, element } of texts) {
    if (/[\u202a-\u202e\u2066-\u2069]/.test(text) && !isIsolated(element)) fault("executed", `${short(text)} turns what follows`);
  }
  return faults;
})
