// The search reads its index through the network, which browsers refuse to pages from a disk.
if (location.protocol === "file:") document.documentElement.classList.add("from-disk");
