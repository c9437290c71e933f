import torch
data = torch.tensor([1], dtype=torch.int64)
indices = torch.tensor([0], dtype=torch.int64)
updates = torch.tensor([10], dtype=torch.int64)
print('expected:', '[10] int64', flush=True)
def call(data, indices, updates):
    return torch.scatter_reduce(input=data, index=indices, src=updates, dim=0, reduce='max')
call = torch.compile(call, dynamic=False)
output = call(data, indices, updates)
print("seen:    ", output.tolist(), output.dtype, output.shape)
