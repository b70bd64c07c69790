// What page_speed.py measures in the browser.
({
  load: async ([file, nets]) => {
      const core = await import(new URL("static/core.js", location.href));
      await core.default({ module_or_path: new URL(`static/${file}`, location.href) });
      const facts = await (await fetch("facts.json")).text();
      window.made = () => new core.WorkerPage("analyse", facts, 1, "2026-01-01");
      window.nets = new Map();
      for (const name of nets) {
          const packed = (await fetch(`nets/${name}.net.gz`)).body.pipeThrough(new DecompressionStream("gzip"));
          window.nets.set(name, new Uint8Array(await new Response(packed).arrayBuffer()));
      }
  },
  rows: ([net, game, seconds]) => {
      const page = window.made();
      page.add_net(net, window.nets.get(net));
      const rows = page.rows_per_second(net, game, seconds);
      page.free();
      return rows;
  },
  search: ([net, visits]) => {
      const page = window.made(), ask = (name, fields) => page.answer(JSON.stringify({ id: 1, do: name, fields }));
      for (const [name, bytes] of window.nets) page.add_net(name, bytes);
      ask("open", { game: "chess", net });
      ask("start", { visits });
      const began = performance.now();
      while (page.turn()) page.events();
      const seconds = (performance.now() - began) / 1000;
      page.free();
      return visits / seconds;
  },
  shared: async ([net, visits]) => {
      const { connectionTo } = await import(new URL("static/connection.js", location.href));
      const connection = connectionTo("analyse"), began = {};
      const ask = (name, fields) => connection.send(JSON.stringify({ id: 1, do: name, fields }));
      const seconds = await new Promise((resolve) => {
          connection.onmessage = ({ data }) => {
              const { event } = JSON.parse(data);
              if (event === "ready") {
                  ask("open", { game: "chess", net });
                  setTimeout(() => { began.at = performance.now(); ask("start", { visits }); }, 1000); // the other workers get ready
              } else if (event === "done") resolve((performance.now() - began.at) / 1000);
          };
      });
      connection.close();
      return visits / seconds;
  },
})
